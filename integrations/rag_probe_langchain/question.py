"""The question of a root run, read from what went into it (contracts 1)."""

from __future__ import annotations

from typing import Final

from langchain_core.messages import BaseMessage

from rag_probe.faults import log_once
from rag_probe_langchain.reading.prompt_text import last_human_text, message_text
from rag_probe_langchain.scan import mapping

_NAMES: Final = ("question", "query", "input")


def question_in(inputs: object) -> str | None:
    """The root's string input, else its `question`, `query` or `input`, else the last human message; never raises."""
    try:
        return _question(inputs)
    except Exception as error:  # an odd object of the app's: the question is answered all the same
        log_once("the question", error)
        return None


def _question(inputs: object) -> str | None:
    if isinstance(inputs, str):
        return inputs or None
    entries = mapping(inputs)
    if entries is None:
        return last_human_text(inputs)
    for name in _NAMES:
        value = entries.get(name)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, BaseMessage):
            return message_text(value) or None
    return last_human_text(entries)
