"""The selection options, the same for every command that reads a source (contracts 6).

A command takes them as parameters named as here and hands them to `selection`.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated, Final

import typer

from rag_probe.protocols import Selection
from rag_probe_collector.errors import InputError

_PANEL: Final = "Selection"
_WHEN: Final = "TIME"
_MOST: Final = 2**31 - 1

Service = Annotated[str | None, typer.Option(help="Only of this service.name.", rich_help_panel=_PANEL)]
Since = Annotated[
    str | None,
    typer.Option(metavar=_WHEN, help="From this time on: RFC 3339, or 2h, 7d ago.", rich_help_panel=_PANEL),
]
Until = Annotated[str | None, typer.Option(metavar=_WHEN, help="Before this time.", rich_help_panel=_PANEL)]
Trace = Annotated[
    list[str] | None, typer.Option(metavar="ID", help="Only of this trace; may be repeated.", rich_help_panel=_PANEL)
]
Attribute = Annotated[
    list[str] | None,
    typer.Option(
        metavar="KEY=VALUE",
        help="Only with this attribute on the outermost span or the resource; may be repeated.",
        rich_help_panel=_PANEL,
    ),
]
Limit = Annotated[
    int | None,
    typer.Option(min=1, max=_MOST, help="At most so many, the oldest first.", rich_help_panel=_PANEL),
]

_TRACE_ID: Final = re.compile(r"[0-9a-f]{32}", re.ASCII)
_DURATION: Final = re.compile(r"(?:(\d{1,5})d)?(?:(\d{1,6})h)?(?:(\d{1,7})m)?(?:(\d{1,8})s)?", re.ASCII)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


def selection(
    *,
    service: str | None = None,
    since: str | None = None,
    until: str | None = None,
    trace: Sequence[str] | None = None,
    attribute: Sequence[str] | None = None,
    limit: int | None = None,
    now: int | None = None,
) -> Selection:
    """The options as typed → a Selection; raises InputError that names the option. `now` is in Unix nanoseconds."""
    clock = time.time_ns() if now is None else now
    return Selection(
        service=service,
        since=None if since is None else instant("--since", since, clock),
        until=None if until is None else instant("--until", until, clock),
        traces=tuple(_trace_id(text) for text in trace or ()),
        attributes=dict(_pair(text) for text in attribute or ()),
        limit=limit,
    )


def instant(option: str, text: str, now: int) -> int:
    """RFC 3339 (without an offset: UTC), or a duration before `now`; nanoseconds since the epoch."""
    duration = _DURATION.fullmatch(text)
    if text and duration is not None:
        days, hours, minutes, seconds = (int(part or 0) for part in duration.groups())
        return now - (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1_000_000_000
    try:
        moment = datetime.fromisoformat(text)
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
        return (moment - _EPOCH) // _MICROSECOND * 1_000
    except (ValueError, OverflowError):
        raise InputError(
            f"{option} {text!r}: expected a time such as 2026-11-30T08:00:00Z or a duration such as 2h, 90m or 1d12h"
        ) from None


def _trace_id(text: str) -> str:
    lower = text.lower()
    if not _TRACE_ID.fullmatch(lower):
        raise InputError(f"--trace {text!r}: expected 32 hexadecimal digits")
    return lower


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise InputError(f"--attribute {text!r}: expected KEY=VALUE, as in rag.case.id=SEC-04")
    return name, value
