"""The registry of other instrumentations: one file and one line here for each, by the module of its handler."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from rag_probe_langchain.peers import official, openinference, openllmetry
from rag_probe_langchain.peers.look import Adapter

__all__ = ["PEERS"]

PEERS: Final[Mapping[str, Adapter]] = {
    "opentelemetry.instrumentation.genai.langchain.callback_handler": official.spans_of,
    "openinference.instrumentation.langchain._tracer": openinference.spans_of,
    "opentelemetry.instrumentation.langchain.callback_handler": openllmetry.spans_of,
}
