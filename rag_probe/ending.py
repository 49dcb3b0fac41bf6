"""The end of a process: what is still open ends with it, also where Python runs no `atexit`.

Children of multiprocessing and of Celery leave by `os._exit`; just before, both call what is registered with them.
Only modules that the app has loaded are looked at.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any, Final, TypeAlias

from rag_probe.faults import log_once

EndOpen: TypeAlias = Callable[[object], object]
"""Ends what is open and goes to that provider."""

_POOLS: Final = "multiprocessing.util"
"""Celery's billiard uses it too."""
_CELERY: Final = "celery.signals"
_LATE: Final = -100
"""After the finalizers of the app."""

_work: Final[list[Callable[[], object]]] = []
_open: Final[list[EndOpen]] = []


def register_open(end: EndOpen) -> None:
    """Add a way to end what an integration has open; registering one twice changes nothing."""
    if end not in _open:
        _open.append(end)


def end_open(provider: object) -> None:
    """End whatever is open and goes to `provider`, as far as it came."""
    for end in _open:
        try:
            end(provider)
        except Exception as fault:  # an integration's
            log_once("the end of what is open", fault)


def before_every_end(work: Callable[[], object]) -> None:
    """Have `work` done when a child of multiprocessing or Celery ends, if this process is one or makes one.

    In place of what was to be done until now.
    """
    _work[:] = [work]
    if (pools := sys.modules.get(_POOLS)) is not None:
        _finalize(pools)


def _finalize(pools: Any) -> None:  # noqa: ANN401 - a module
    pools.Finalize(None, _do, exitpriority=_LATE)


def _do(**_: object) -> None:
    for work in _work:
        work()


def _in_child() -> None:
    """A new child forgets what its parent has registered, and then does what it was told to do after a fork."""
    if not _work:
        return
    try:
        if (pools := sys.modules.get(_POOLS)) is not None:
            pools.register_after_fork(pools, _finalize)
        if (signals := sys.modules.get(_CELERY)) is not None:
            signals.worker_process_shutdown.connect(_do, weak=False, dispatch_uid="rag_probe")
    except Exception as fault:  # the names have moved: the last seconds of a child are lost
        log_once("the end of a child", fault)


os.register_at_fork(after_in_child=_in_child)
