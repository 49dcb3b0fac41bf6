"""LangChain: callback runs into RAG stages."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from rag_probe_langchain.handler import RagProbeCallbackHandler

if TYPE_CHECKING:
    from rag_probe_langchain.instrumentor import RagProbeInstrumentor

__all__ = ["RagProbeCallbackHandler", "RagProbeInstrumentor"]


def __getattr__(name: str) -> object:
    """The instrumentor needs a package that the handler does not: it is loaded when it is used."""
    if name == "RagProbeInstrumentor":
        return import_module("rag_probe_langchain.instrumentor").RagProbeInstrumentor
    raise AttributeError(f"module 'rag_probe_langchain' has no attribute {name!r}")
