"""The bodies of LangChain's retrievers, models, tools and steps, wrapped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from langchain_core.language_models import BaseChatModel, BaseLLM
from langchain_core.retrievers import BaseRetriever

from rag_probe.faults import log_once
from rag_probe_langchain.instrumenting import hidden
from rag_probe_langchain.instrumenting.families import Family
from rag_probe_langchain.instrumenting.frames import framed, in_config, told, waiting
from rag_probe_langchain.instrumenting.wrapping import put_back_in, replace_in

_MODEL: Final = framed(waiting("model"))
_ONE_CALL: Final = framed(told)
_RETRIEVER: Final = framed(waiting("retriever"))

FAMILIES: Final = (
    Family(BaseRetriever, {"invoke": _RETRIEVER, "ainvoke": _RETRIEVER}),
    Family(
        BaseChatModel,
        {
            "stream": _MODEL,
            "astream": _MODEL,
            "_generate_with_cache": _ONE_CALL,
            "_agenerate_with_cache": _ONE_CALL,
            "_iter_v2_events": _ONE_CALL,
            "_aiter_v2_events": _ONE_CALL,
        },
        newer=("_iter_v2_events", "_aiter_v2_events"),
    ),
    Family(
        BaseLLM,
        {"stream": _MODEL, "astream": _MODEL, "_generate_helper": _ONE_CALL, "_agenerate_helper": _ONE_CALL},
    ),
)
"""Retrievers and models run their bodies in the caller's context: each gets a frame of its own."""
_CONFIG: Final = ("langchain_core.runnables.config", "_set_config_context")
"""Steps and tools run theirs in a copy of it, which this function prepares."""


def wrap() -> None:
    """Wrap all; what another version has not got is left out."""
    replace_in(*_CONFIG, in_config)
    _each([family.wrap for family in (*FAMILIES, *hidden.FAMILIES)])


def unwrap() -> None:
    """Put everything back."""
    put_back_in(*_CONFIG)
    _each([family.unwrap for family in (*FAMILIES, *hidden.FAMILIES)])


def _each(works: Sequence[Callable[[], None]]) -> None:
    for work in works:
        try:
            work()
        except Exception as error:  # one part that fails must not take the others with it
            log_once("wrapping LangChain's classes", error)
