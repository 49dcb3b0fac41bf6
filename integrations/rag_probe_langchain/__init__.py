"""LangChain: callback runs into RAG stages."""
