"""LangChain: callback runs into RAG stages, and parts that record as they work."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

from rag_probe_langchain.handler import RagProbeCallbackHandler

if TYPE_CHECKING:
    from rag_probe_langchain.components import ContextBuilder, PermissionCompressor, PermissionRetriever
    from rag_probe_langchain.instrumentor import RagProbeInstrumentor

__all__ = [
    "ContextBuilder",
    "PermissionCompressor",
    "PermissionRetriever",
    "RagProbeCallbackHandler",
    "RagProbeInstrumentor",
]

_HOMES: Final = {
    "ContextBuilder": "rag_probe_langchain.components",
    "PermissionCompressor": "rag_probe_langchain.components",
    "PermissionRetriever": "rag_probe_langchain.components",
    "RagProbeInstrumentor": "rag_probe_langchain.instrumentor",
}


def __getattr__(name: str) -> object:
    """Loaded when first used: the instrumentor needs a package that the handler does not."""
    if name not in _HOMES:
        raise AttributeError(f"module 'rag_probe_langchain' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
