"""LangGraph's nodes and agents, told by the metadata of their runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, cast

from rag_probe.stages import Node

NODE: Final = "langgraph_node"
"""The metadata key that names the node around a run."""
_TAG: Final = "graph:step:"
_START: Final = "__start__"
LONGEST: Final = 120
"""Characters of a name that goes into a span's name."""
AGENT: Final = "ls_integration"
"""The metadata key under which an agent says what it is."""
_PUSH: Final = "__pregel_push"
_AGENT: Final = "langchain_create_agent"
_THREADS: Final = {"thread_id": None, "session_id": None, "conversation_id": None}.keys()


def node_of(tags: Sequence[str] | None, metadata: Mapping[str, object], outer: Mapping[str, object]) -> Node | None:
    """The node, or the task of the functional API, whose own run this is; `outer` is the metadata of the run around it.

    What runs inside a node inherits its metadata, but not its tag; a task has no tag, but a namespace of its own. A
    `checkpoint_id` in the metadata is the one that the caller began at, of whichever step the node is: it is not told.
    """
    name = metadata.get(NODE)
    if name in (None, _START):
        return None
    namespace = metadata.get("langgraph_checkpoint_ns")
    if not any(tag.startswith(_TAG) for tag in tags or ()) and (
        not is_called(metadata) or namespace == outer.get("langgraph_checkpoint_ns")
    ):
        return None
    step = metadata.get("langgraph_step")
    return Node(
        name=str(name)[:LONGEST],
        step=step if isinstance(step, int) else None,
        task_id=namespace.rpartition(":")[2] or None if isinstance(namespace, str) else None,
        checkpoint_ns=namespace if isinstance(namespace, str) else None,
    )


def is_called(metadata: Mapping[str, object]) -> bool:
    """Whether a task was called from a function: its path says so in its last place."""
    path = metadata.get("langgraph_path")
    return isinstance(path, tuple) and cast("tuple[object, ...]", path)[-1:] == (True,)


def is_sent(metadata: Mapping[str, object]) -> bool:
    """Whether a node's task was sent its own input (`Send`), beside others of that node."""
    path = metadata.get("langgraph_path")
    return isinstance(path, tuple) and cast("tuple[object, ...]", path)[:1] == (_PUSH,) and not is_called(metadata)


def place_of(metadata: Mapping[str, object]) -> int | None:
    """Its place among the tasks that were sent."""
    path = metadata.get("langgraph_path")
    place = cast("tuple[object, ...]", path)[1] if isinstance(path, tuple) and len(path) > 1 else None  # pyright: ignore[reportUnknownArgumentType]
    return place if isinstance(place, int) else None


def is_agent(metadata: Mapping[str, object], outer: Mapping[str, object]) -> bool:
    """Whether an agent's own run starts: what runs inside it inherits its metadata."""
    return metadata.get(AGENT) == _AGENT and (
        outer.get(AGENT) != _AGENT or outer.get("lc_agent_name") != metadata.get("lc_agent_name")
    )


def thread_of(metadata: Mapping[str, object]) -> str | None:
    """The conversation: a thread, else a session. Never invented."""
    if _THREADS.isdisjoint(metadata):
        return None
    for key in _THREADS:
        value = metadata.get(key)
        if isinstance(value, (str, int)) and value != "":
            return str(value)
    return None
