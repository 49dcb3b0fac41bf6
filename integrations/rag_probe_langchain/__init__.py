"""LangChain: callback runs into RAG stages."""

from rag_probe_langchain.handler import RagProbeCallbackHandler

__all__ = ["RagProbeCallbackHandler"]
