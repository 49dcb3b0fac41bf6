"""The thresholds' file: one object as JSON or YAML, with its hash."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import fields
from datetime import datetime
from pathlib import Path
from typing import Final, cast

import orjson

from rag_probe_collector.errors import InputError
from rag_probe_collector.register.listing import Item, check_schema, read_bytes
from rag_probe_collector.register.repeated import refuse_repeated
from rag_probe_collector.register.thresholds import Thresholds, Waiver
from rag_probe_collector.register.validate import Shape
from rag_probe_collector.register.visible import visible
from rag_probe_collector.register.yaml_listing import yaml_object

_SHAPE: Final = Shape(Thresholds, "thresholds")
_WAIVER: Final = tuple(each.name for each in fields(Waiver))


def load_thresholds(path: Path) -> tuple[Thresholds, str]:
    """The thresholds and the SHA-256 of the file; raises `InputError`."""
    name, data = visible(str(path)), read_bytes(path)
    item = Item(_parse(data, name), name)
    for written, meant in _SHAPE.misspelt(item.value):
        raise InputError(
            f"{name}: expected the field {meant!r}, got {written[:80]!r}; an ignored limit protects nothing"
        )
    thresholds = _SHAPE.read(item)
    _refuse_unknown(item.value, name)
    check_schema(thresholds.schema, "rag-probe.thresholds/1", name)
    problem = next(_faults(thresholds), None)
    if problem is not None:
        raise InputError(f"{name}: {problem}")
    return thresholds, hashlib.sha256(data).hexdigest()


def _parse(data: bytes, name: str) -> object:
    if not data.lstrip().startswith(b"{"):
        return yaml_object(data, name)
    try:
        value: object = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise InputError(f"{name}:{error.lineno}: expected JSON in UTF-8: {error.msg}") from None
    refuse_repeated(data, name)
    return value


def _refuse_unknown(value: object, name: str) -> None:
    """A field of an exception that is not known may be a `case_id` misspelt, and would excuse every case."""
    exceptions = cast("dict[str, list[dict[str, object]]]", value).get("exceptions") or []
    for at, written in enumerate(exceptions):
        unknown = [word for word in written if word not in _WAIVER]
        if unknown:
            raise InputError(
                f"{name}: exceptions[{at}]: expected {', '.join(_WAIVER)}, got {visible(unknown[0][:80])!r}; "
                "a field that is ignored may excuse more than was meant"
            )


def _faults(thresholds: Thresholds) -> Iterator[str]:
    if not 0 <= thresholds.minimum_recall <= 1:
        yield f"minimum_recall: expected a number from 0 to 1, got {thresholds.minimum_recall}"
    if thresholds.decided_at is None:
        yield "decided_at: expected when these limits were fixed, got none; add the date"
    elif not _is_instant(thresholds.decided_at):
        yield f"decided_at: expected 2030-01-31 or 2030-01-31T12:00:00Z, got {thresholds.decided_at[:40]!r}"
    for at, waiver in enumerate(thresholds.exceptions):
        place = f"exceptions[{at}]"
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
