"""When limits make sense (checklist 49 to 53, 58)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from datetime import datetime
from typing import Final, cast

from rag_probe_collector.register.thresholds import Bound, Thresholds, Waiver
from rag_probe_collector.register.visible import visible

_FIELDS: Final = {kind: tuple(each.name for each in fields(kind)) for kind in (Thresholds, Bound, Waiver)}


def unknown_fields(value: object) -> Iterator[str]:
    """One line for each field, at any depth, that nobody would read: it may be a limit, or the bounds of an exception.

    `value` is the file's object; that its types are right is known already.
    """
    written = cast("dict[str, object]", value)
    yield from _unknown("", Thresholds, written)
    for name, bound in cast("dict[str, dict[str, object]]", written.get("metrics", {})).items():
        yield from _unknown(f"metrics.{visible(name[:80])}: ", Bound, bound)
    for at, waiver in enumerate(cast("list[dict[str, object]]", written.get("exceptions", []))):
        yield from _unknown(f"exceptions[{at}]: ", Waiver, waiver)


def _unknown(place: str, kind: type, written: dict[str, object]) -> Iterator[str]:
    for word in written:
        if word not in _FIELDS[kind]:
            known = ", ".join(_FIELDS[kind])
            yield f"{place}expected {known}, got {word[:80]!r}; a field that is ignored protects nothing"


def faults(thresholds: Thresholds) -> Iterator[str]:
    """One line for each rule that the thresholds break."""
    if not 0 <= thresholds.minimum_recall <= 1:
        yield f"minimum_recall: expected a number from 0 to 1, got {thresholds.minimum_recall}"
    if thresholds.decided_at is not None and not _is_instant(thresholds.decided_at):
        yield f"decided_at: expected 2030-01-31 or 2030-01-31T12:00:00Z, got {thresholds.decided_at[:40]!r}"
    for at, waiver in enumerate(thresholds.exceptions):
        yield from _waiver(f"exceptions[{at}]", waiver, thresholds)


def _waiver(place: str, waiver: Waiver, thresholds: Thresholds) -> Iterator[str]:
    if waiver.case_id is None and waiver.violation is None:
        yield f"{place}: expected case_id or violation, got neither; say what is excused"
    if waiver.violation == "review_pending":
        yield f"{place}: violation: review_pending is never a pass; have the answer reviewed"
    if waiver.violation in thresholds.blockers:
        yield f"{place}: violation: {waiver.violation} is a blocker and cannot be excused; remove one of the two"
    for field, text in (("owner", waiver.owner), ("reason", waiver.reason)):
        if not text.strip():
            yield f"{place}: {field}: expected text that is not blank"


def _is_instant(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True
