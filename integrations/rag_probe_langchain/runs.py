"""All open runs of this process: bounded, empty in a forked child, shared by every handler."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final

from langchain_core.callbacks import BaseCallbackManager
from langchain_core.runnables.config import var_child_runnable_config

from rag_probe_langchain.request import Request
from rag_probe_langchain.run import Run

OPEN: Final[dict[int, Run]] = {}
"""By the run id as an int, which hashes at a third of a UUID's price."""
LIMIT: Final = 4_096
"""Questions that may be open at once; then the oldest is given up."""
IDLE: Final = 3_600 * 10**9
"""Nanoseconds of silence after which a question that nobody ended is given up."""

RUNS: Final = 10_000
"""Runs of one question that may be open at once; then the oldest below the root is given up."""

_LATE: Final = 10_000
_roots: Final[dict[int, Run]] = {}
_late: Final[dict[int, None]] = {}
"""Runs that were still open when their root ended: what starts inside them belongs to no question."""


def current() -> Run | None:
    """The innermost open run around the calling code, by LangChain's own context; not in a bare thread."""
    return run_of(var_child_runnable_config.get())


def run_of(config: Mapping[str, object] | None) -> Run | None:
    """The open run whose children are given `config`."""
    callbacks = config.get("callbacks") if config else None
    if isinstance(callbacks, BaseCallbackManager) and callbacks.parent_run_id is not None:
        return OPEN.get(callbacks.parent_run_id.int)
    return None


def is_late(key: int, parent: int) -> bool:
    """Whether a new run stands in a question that is over; it is then remembered as late itself."""
    if parent not in _late:
        return False
    _remember_late(key)
    return True


def add_root(run: Run) -> None:
    """Make the root of a question known."""
    OPEN[run.key] = run.request.runs[run.key] = _roots[run.key] = run


def add_silent(key: int, request: Request) -> None:
    """Remember only that a run belongs to a question that is not recorded."""
    if request.root is not None:
        OPEN[key] = request.runs[key] = request.root


def is_over(run: Run) -> bool:
    """Whether the question of a new run ended while the run began; it is then forgotten."""
    root = run.request.root
    if root is not None and not root.ended:
        return False
    take(run.key)
    _remember_late(run.key)
    return True


def take(key: int) -> Run | None:
    """The open run of that id, known no longer; None for one that has ended already or never started."""
    run = OPEN.pop(key, None)
    if run is not None:
        run.request.runs.pop(key, None)
        if run.parent is None and _roots.pop(key, None) is not None and run.request.watch is not None:
            run.request.watch.end()
    return run


def leftovers(request: Request, inside: Run | None = None) -> list[Run]:
    """The runs of a question that are open at its end, or those `inside` a run; innermost first, known no longer."""
    left = [entry for entry in list(request.runs.items())[::-1] if inside is None or _is_inside(entry[1], inside)]
    for key, _ in left:
        take(key)
        _remember_late(key)
    return [run for _, run in left if run is not request.root]


def _is_inside(run: Run, outer: Run) -> bool:
    above = run.parent
    while above is not None and above is not outer:
        above = above.parent
    return above is not None


def stale(now: int) -> Run | None:
    """The root of a question to give up at `now` (nanoseconds since the epoch), if there is one."""
    try:
        oldest = next(iter(_roots.values()), None)
    except RuntimeError:  # another thread added one meanwhile: the next start looks again
        return None
    if oldest is None or len(_roots) >= LIMIT or now - oldest.request.touched > IDLE:
        return oldest
    if now - oldest.started > IDLE and _roots.pop(oldest.key, None) is not None:
        _roots[oldest.key] = oldest  # old, but alive
    return None


def roots() -> list[Run]:
    """The roots of all open questions."""
    return list(_roots.values())


def leaked(request: Request) -> Run | None:
    """A run of a question to give up, because too many are open."""
    with request.lock:
        return next((run for run in list(request.runs.values()) if run is not request.root), None)


def _remember_late(key: int) -> None:
    try:
        while len(_late) >= _LATE:
            _late.pop(next(iter(_late)), None)
    except RuntimeError:  # as above
        return
    _late[key] = None


def _forget() -> None:
    """In a forked child the parent's runs never end, and what still holds them adds nothing."""
    for run in OPEN.values():
        run.request.abandon()
    for state in (OPEN, _roots, _late):
        state.clear()


os.register_at_fork(after_in_child=_forget)
