"""LangGraph checkpoints as a source of evidence paths: read from the store alone, without the graph or its code."""

from rag_probe_langgraph.checkpoints.marks import mapping, roles_of
from rag_probe_langgraph.checkpoints.roles import ROLES, Role
from rag_probe_langgraph.checkpoints.source import of_graph, of_saver, open_checkpoints

__all__ = ["ROLES", "Role", "mapping", "of_graph", "of_saver", "open_checkpoints", "roles_of"]
