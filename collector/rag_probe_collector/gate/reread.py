"""A report that was written before, to be gated again without scoring."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import orjson
from pydantic import TypeAdapter, ValidationError

from rag_probe_collector.errors import InputError
from rag_probe_collector.gate.report_json import SCHEMA, ReportJson
from rag_probe_collector.register import Thresholds, visible
from rag_probe_collector.register.listing import read_bytes

_SHAPE: Final = TypeAdapter(ReportJson)
_THRESHOLDS: Final = TypeAdapter(Thresholds)


def read_report(path: Path) -> ReportJson:
    """The report; raises `InputError` when it is none, or one of a newer version."""
    name = visible(str(path))
    try:
        report = _SHAPE.validate_json(read_bytes(path), strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = visible(".".join(str(each) for each in first["loc"]))
        raise InputError(f"{name}: expected a report as `score --out` writes it: {place}: {first['msg']}") from None
    if report["schema"] != SCHEMA:
        raise InputError(f"{name}: schema: expected {SCHEMA}, got {report['schema'][:40]!r}; score again")
    return report


def thresholds_of(report: ReportJson) -> tuple[Thresholds, str | None]:
    """The thresholds that a report was gated with, and their hash."""
    told = report["thresholds"]
    return _THRESHOLDS.validate_json(orjson.dumps(told), strict=True), told["hash"]
