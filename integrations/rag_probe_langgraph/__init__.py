"""LangGraph: the LangChain handler, and interrupts and resumes."""

from rag_probe_langgraph.handler import RagProbeGraphHandler

__all__ = ["RagProbeGraphHandler"]
