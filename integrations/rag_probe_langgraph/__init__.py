"""LangGraph: the LangChain handler, and interrupts and resumes."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from rag_probe_langgraph.handler import RagProbeGraphHandler

if TYPE_CHECKING:
    from rag_probe_langgraph.instrumentor import RagProbeGraphInstrumentor

__all__ = ["RagProbeGraphHandler", "RagProbeGraphInstrumentor"]


def __getattr__(name: str) -> object:
    """The instrumentor needs a package that the handler does not: it is loaded when it is used."""
    if name == "RagProbeGraphInstrumentor":
        return import_module("rag_probe_langgraph.instrumentor").RagProbeGraphInstrumentor
    raise AttributeError(f"module 'rag_probe_langgraph' has no attribute {name!r}")
