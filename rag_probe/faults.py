"""A fault of ours is said once in the log and never reaches the app."""

from __future__ import annotations

import logging
from pathlib import Path
from traceback import format_tb
from typing import Final

from rag_probe.wellformed import well_formed

LIMIT: Final = 256
"""Different things that are said in one process; what comes later is silent."""

_OURS: Final = frozenset({"rag_probe", "rag_probe_langchain", "rag_probe_langgraph", "opentelemetry"})
"""Packages whose frames lead to a culprit."""

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


def blame_once(error: BaseException) -> None:
    """Say at WARNING, once per culprit and type of error, whose code OpenTelemetry called for us and raised this.

    A span processor, sampler or exporter that the app has set up; without one it is said as by `log_once`.
    """
    culprit = _culprit(error)
    if culprit is None:
        log_once("the writing of a span", error)
    elif _first(culprit, name := type(error).__name__):
        _logger.warning(
            "%s raised %s at %s, called by OpenTelemetry: spans are lost by it; the app is unaffected, and this is"
            " said once",
            culprit,
            name,
            _at(error),
        )


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


def _culprit(error: BaseException) -> str | None:
    """The first function on the way that is neither ours nor OpenTelemetry's."""
    trace = error.__traceback__
    while trace is not None:
        module = str(trace.tb_frame.f_globals.get("__name__", ""))
        if module.partition(".")[0] not in _OURS:
            return f"{module}.{trace.tb_frame.f_code.co_qualname}"
        trace = trace.tb_next
    return None
