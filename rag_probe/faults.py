"""A fault of ours is said once in the log and never reaches the app."""

from __future__ import annotations

import logging
from pathlib import Path
from traceback import format_tb
from typing import Final

from rag_probe.wellformed import well_formed

LIMIT: Final = 256
"""Different things that are said in one process; what comes later is silent."""

_logger: Final = logging.getLogger("rag_probe")
_said: Final[dict[tuple[str, str], object]] = {}


def log_once(kind: str, error: BaseException) -> None:
    """Say at WARNING, once per `kind` and type of error, that recording failed and where; never raises.

    Where it came from is told at DEBUG; its message, which may quote content, never.
    """
    name = type(error).__name__
    if _first(kind, name):
        _logger.warning("%s failed with %s at %s; the app is unaffected, and this is said once", kind, name, _at(error))
        _logger.debug("%s failed with %s:\n%s", kind, name, "".join(format_tb(error.__traceback__)))


def warn_once(kind: str, message: str, *arguments: object) -> None:
    """Say at WARNING, once per `kind`, what is misused or misconfigured and how to mend it; never raises."""
    if _first(kind, ""):
        _logger.warning(message, *arguments)


def error_type(error: BaseException) -> str:
    """What `error.type` says: the exception's qualified name, bare for Python's own; its message may be content."""
    kind = type(error)
    name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    return well_formed(name)


def message_of(error: BaseException) -> str:
    """What an exception says, which may be content; nothing where it cannot say it."""
    try:
        return str(error)
    except Exception:  # the app's own class
        return ""


def _first(kind: str, name: str) -> bool:
    # setdefault is atomic: no lock that a fork could leave held.
    token = object()
    return len(_said) < LIMIT and _said.setdefault((kind, name), token) is token


def _at(error: BaseException) -> str:
    trace = error.__traceback__
    if trace is None:
        return "an unknown place"
    while trace.tb_next is not None:
        trace = trace.tb_next
    return f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}"
