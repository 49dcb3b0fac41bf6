"""Graph tasks that wait for an answer or failed, so that the run which goes on can be linked to them.

And where the last run of each thread came to, since nothing tells a plain handler that it only stopped there; and what
waits is gone on with under other ids when its state was written to meanwhile.
Bounded, and kept for a day.
"""

from __future__ import annotations

import os
import time
from typing import Final, NamedTuple, TypeVar

from opentelemetry.trace import SpanContext

from rag_probe_langchain.request import Made

Key = TypeVar("Key")
Entry = TypeVar("Entry")

_LIMIT: Final = 4_096
_KEPT: Final = 24 * 3_600
"""Seconds."""


class Pause(NamedTuple):
    """The spans of a node that was interrupted or failed, and of the run it stood in."""

    node: SpanContext
    root: SpanContext
    made: tuple[Made, ...]
    """What models wrote last before it, and which passages they saw."""
    at: float
    failed: bool = False


class Stop(NamedTuple):
    """The last step of a thread's last run, and that run's root."""

    graph: str
    step: int
    root: SpanContext
    at: float
    paused: bool
    """Whether it is known to wait."""

    def comes_before(self, graph: str, step: int | None) -> bool:
        """Whether a run that begins with `step` goes on with it: with the very next one, unless it is known to wait.

        Then the app may have written to its state meanwhile, each time a step.
        """
        if step is None or graph != self.graph or time.monotonic() - self.at > _KEPT:
            return False
        return step >= self.step if self.paused else step == self.step + 1


_pauses: Final[dict[tuple[str, str], Pause]] = {}
_stops: Final[dict[str, Stop]] = {}
"""By thread."""


def remember(
    thread: str | None,
    task: str | None,
    node: SpanContext,
    root: SpanContext,
    made: tuple[Made, ...],
    *,
    failed: bool = False,
) -> None:
    """Note that a task waits, or may be tried again. Without a thread nothing can go on."""
    if thread is None or task is None:
        return
    if _has_room(_pauses):
        _pauses[thread, task] = Pause(node, root, made, time.monotonic(), failed)


def find(thread: str | None, task: str | None) -> Pause | None:
    """The pause of a task, by its thread and its task id, which stay the same when it goes on."""
    if not _pauses or thread is None or task is None:
        return None
    pause = _pauses.get((thread, task))
    if pause is None or time.monotonic() - pause.at <= _KEPT:
        return pause
    forget(thread, task)
    return None


def stopped(thread: str, graph: str, step: int | None, root: SpanContext | None, *, paused: bool) -> None:
    """Note the step to which a run came that ended well or waits, if there was any."""
    _stops.pop(thread, None)
    if step is not None and root is not None and _has_room(_stops):
        _stops[thread] = Stop(graph, step, root, time.monotonic(), paused)


def take_stop(thread: str | None) -> Stop | None:
    """Where the thread's last run came to; forgotten, since the next one goes on with it or is another question."""
    return None if thread is None else _stops.pop(thread, None)


def clear() -> None:
    """Forget everything."""
    _pauses.clear()
    _stops.clear()


def _has_room(entries: dict[Key, Entry]) -> bool:
    """False where another thread changes them meanwhile: this one is not remembered."""
    try:
        while len(entries) >= _LIMIT:
            entries.pop(next(iter(entries)), None)
    except RuntimeError:
        return False
    return True


def forget(thread: str | None, task: str | None) -> None:
    """The task has got its answer, or has recovered."""
    if thread is not None and task is not None:
        _pauses.pop((thread, task), None)


os.register_at_fork(after_in_child=clear)
