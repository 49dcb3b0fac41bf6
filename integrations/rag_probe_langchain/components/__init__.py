"""Parts to drop into an app: they do their work, and record it as they go. Without a handler they only work."""

from rag_probe_langchain.components.context_builder import ContextBuilder
from rag_probe_langchain.components.permission_compressor import PermissionCompressor
from rag_probe_langchain.components.permission_retriever import PermissionRetriever

__all__ = ["ContextBuilder", "PermissionCompressor", "PermissionRetriever"]
