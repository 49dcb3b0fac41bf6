"""How LangGraph steers: control-flow exceptions, and commands that write to the state. Told without importing it."""

from __future__ import annotations

import sys
from typing import Final

from rag_probe_langchain.scan import sequence

_COMMANDS: Final = 64
"""Values of one output that are looked at."""


def is_control_flow(error: BaseException) -> bool:
    """Whether LangGraph raised it to steer (an interrupt, a command to the parent): no failure."""
    return _is(error, "GraphBubbleUp")


def is_interrupt(error: BaseException) -> bool:
    """Whether a node paused to ask."""
    return _is(error, "GraphInterrupt")


def handed_up(error: BaseException) -> object:
    """The command that a node gave to the graph around its own; None for every other exception."""
    return next(iter(error.args), None) if _is(error, "ParentCommand") else None


def written(outputs: object) -> object:
    """What a node or a tool writes to the state: of a Command, or of each in a list of them, the update."""
    if type(outputs) is dict:  # pyright: ignore[reportUnknownArgumentType] - any dict: what nodes return, mostly
        return outputs  # pyright: ignore[reportUnknownVariableType] - as above
    items = sequence(outputs)
    if items is not None:
        return [written(item) for item in items] if any(map(_is_command, items[:_COMMANDS])) else outputs
    if not _is_command(outputs):
        return outputs
    update: object = getattr(outputs, "update", None)
    entries = [sequence(entry) or () for entry in sequence(update) or ()]
    return {str(entry[0]): entry[1] for entry in entries if len(entry) == 2} if entries else update


def goes_on(inputs: object) -> bool:
    """Whether a graph with this input goes on with an earlier run: it is none, or the word that one waits for."""
    return inputs is None or (_is_command(inputs) and getattr(inputs, "resume", None) is not None)


def _is_command(value: object) -> bool:
    return _is(value, "Command", "langgraph.types")


def _is(value: object, name: str, module: str = "langgraph.errors") -> bool:
    kind = getattr(sys.modules.get(module), name, None)
    return isinstance(kind, type) and isinstance(value, kind)
