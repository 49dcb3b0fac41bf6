"""Spans of a source → traces → questions → evidence paths, by the rules of contracts 1."""
