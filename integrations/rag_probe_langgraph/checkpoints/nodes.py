"""Tasks → the nodes of a path. Their times are those of the superstep: nothing closer is stored."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from rag_probe.path import Step
from rag_probe.policy import CapturePolicy
from rag_probe.stages import Node
from rag_probe_langgraph.checkpoints.saved import Store, state_of
from rag_probe_langgraph.checkpoints.tasks import Task
from rag_probe_langgraph.checkpoints.turns import Turn

BRANCH: Final = "branch:to:"
"""Channels by which LangGraph starts a node."""


def nodes_of(turn: Turn, tasks: Sequence[Task], store: Store, policy: CapturePolicy) -> tuple[Step[Node], ...]:
    """The tasks but LangGraph's own, and the nodes that the last checkpoint was about to run."""
    ran = [_ran(task, policy) for task in tasks if not task.is_start and task.outcome is not None]
    return (*ran, *_pending(turn, tasks, store))


def failure_of(tasks: Sequence[Task]) -> str | None:
    """The type of what ended the turn."""
    return next((_kind(task.error or "error") for task in tasks if task.outcome == "error"), None)


def milliseconds(start: int | None, end: int | None) -> float | None:
    """Between two instants in nanoseconds; None where clocks disagree about them."""
    return None if start is None or end is None or end < start else (end - start) / 1e6


def _ran(task: Task, policy: CapturePolicy) -> Step[Node]:
    step = task.saved.step
    node = Node(
        name=task.node or "unknown",
        step=None if step is None else step + 1,
        task_id=task.id,
        checkpoint_id=task.saved.id,
        checkpoint_ns=f"{task.saved.namespace}|{task.node}:{task.id}".lstrip("|") if task.node else None,
        outcome=task.outcome,
        asked=None if task.asked is None else policy.content_of(task.asked),
        answered=None if task.answered is None else policy.content_of(task.answered),
    )
    return Step(node, milliseconds(task.saved.at, task.until), _kind(task.error))


def _pending(turn: Turn, tasks: Sequence[Task], store: Store) -> Iterator[Step[Node]]:
    last = turn.saved[-1]
    ran = {task.node for task in tasks if task.saved is last}
    for channel in state_of(store.checkpoint(last)):
        name = channel.removeprefix(BRANCH)
        if channel.startswith(BRANCH) and name not in ran:
            step = None if last.step is None else last.step + 1
            yield Step(Node(name=name, step=step, checkpoint_id=last.id, outcome="pending"))


def _kind(error: str | None) -> str | None:
    """The exception's type, from its repr: the message is content."""
    return None if error is None else error.partition("(")[0].strip("'\" ")[:100] or "error"
