"""LangGraph checkpoints as a source of evidence paths: read from the store alone, without the graph or its code."""
