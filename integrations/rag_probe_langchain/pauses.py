"""Graph tasks that wait for an answer or failed, so that the run which goes on can be linked to them.

Bounded, and kept for a day.
"""

from __future__ import annotations

import os
import time
from typing import Final, NamedTuple

from opentelemetry.trace import SpanContext

from rag_probe_langchain.request import Made

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


_pauses: Final[dict[tuple[str, str], Pause]] = {}


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
    try:
        while len(_pauses) >= _LIMIT:
            _pauses.pop(next(iter(_pauses)), None)
    except RuntimeError:  # another thread changed it meanwhile: this pause is not remembered
        return
    _pauses[thread, task] = Pause(node, root, made, time.monotonic(), failed)


def find(thread: str | None, task: str | None) -> Pause | None:
    """The pause of a task, by its thread and its task id, which stay the same when it goes on."""
    if not _pauses or thread is None or task is None:
        return None
    pause = _pauses.get((thread, task))
    if pause is not None and time.monotonic() - pause.at > _KEPT:
        return _pauses.pop((thread, task), None) and None
    return pause


def forget(thread: str | None, task: str | None) -> None:
    """The task has got its answer, or has recovered."""
    if thread is not None and task is not None:
        _pauses.pop((thread, task), None)


os.register_at_fork(after_in_child=_pauses.clear)
