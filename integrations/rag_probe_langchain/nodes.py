"""Graph nodes, told by LangGraph's metadata; its control-flow exceptions, told without importing it."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Final

from rag_probe.stages import Node

_TAG: Final = "graph:step:"
_START: Final = "__start__"
_LONGEST: Final = 120


def node_of(tags: Sequence[str] | None, metadata: Mapping[str, object]) -> Node | None:
    """The node whose own run this is. What runs inside a node inherits its metadata, but not its tag."""
    name = metadata.get("langgraph_node")
    if name in (None, _START) or not any(tag.startswith(_TAG) for tag in tags or ()):
        return None
    namespace = metadata.get("langgraph_checkpoint_ns")
    step = metadata.get("langgraph_step")
    checkpoint = metadata.get("checkpoint_id")
    return Node(
        name=str(name)[:_LONGEST],
        step=step if isinstance(step, int) else None,
        task_id=namespace.rpartition(":")[2] or None if isinstance(namespace, str) else None,
        checkpoint_ns=namespace if isinstance(namespace, str) else None,
        checkpoint_id=checkpoint if isinstance(checkpoint, str) else None,
    )


def thread_of(metadata: Mapping[str, object]) -> str | None:
    """The conversation: a thread, else a session. Never invented."""
    for key in ("thread_id", "session_id", "conversation_id"):
        value = metadata.get(key)
        if isinstance(value, (str, int)) and value != "":
            return str(value)
    return None


def is_control_flow(error: BaseException) -> bool:
    """Whether LangGraph raised it to steer (an interrupt, a command to the parent): no failure."""
    return _is(error, "GraphBubbleUp")


def is_interrupt(error: BaseException) -> bool:
    """Whether a node paused to ask."""
    return _is(error, "GraphInterrupt")


def _is(error: BaseException, name: str) -> bool:
    kind = getattr(sys.modules.get("langgraph.errors"), name, None)
    return isinstance(kind, type) and isinstance(error, kind)
