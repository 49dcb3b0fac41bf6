"""Texts, usage and providers out of LangChain's messages and results, whatever their shape."""
