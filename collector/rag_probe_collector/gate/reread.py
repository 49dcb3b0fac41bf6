"""A report that was written before, to be gated again without scoring: what was tampered with or cut is no report."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import orjson
from pydantic import TypeAdapter, ValidationError

from rag_probe_collector.errors import InputError
from rag_probe_collector.gate.report_json import SCHEMA, ReportJson
from rag_probe_collector.register import VIOLATIONS, Thresholds, visible
from rag_probe_collector.register.listing import read_bytes
from rag_probe_collector.register.threshold_rules import faults

_SHAPE: Final = TypeAdapter(ReportJson)
_THRESHOLDS: Final = TypeAdapter(Thresholds)


def read_report(path: Path) -> ReportJson:
    """The report, of a folder or a file that `score --out` wrote.

    Raises `InputError` when it is none, one of a newer version, or one that contradicts itself.
    """
    path = path / "report.json" if path.is_dir() else path
    name = visible(str(path))
    data = read_bytes(path)
    try:
        orjson.loads(data)  # stricter than what follows: no NaN, no infinity
        report = _SHAPE.validate_json(data, strict=True)
    except orjson.JSONDecodeError as error:
        raise InputError(f"{name}: expected JSON in UTF-8: {error.msg} (line {error.lineno}); score again") from None
    except ValidationError as error:
        raise InputError(f"{name}: expected a report as `score --out` writes it: {_first(error)}") from None
    if report["schema"] != SCHEMA:
        raise InputError(f"{name}: schema: expected {SCHEMA}, got {report['schema'][:40]!r}; score again")
    problem = next(_contradictions(report), None)
    if problem is not None:
        raise InputError(f"{name}: {problem}; score again")
    return report


def thresholds_of(report: ReportJson) -> tuple[Thresholds, str | None]:
    """The thresholds that a report was gated with, and their hash; raises `InputError` for senseless ones."""
    told = report["thresholds"]
    try:
        thresholds = _THRESHOLDS.validate_json(orjson.dumps(told), strict=True)
    except ValidationError as error:
        raise InputError(f"thresholds of the report: {_first(error)}; give --thresholds FILE") from None
    problem = next(faults(thresholds), None)
    if problem is not None:
        raise InputError(f"thresholds of the report: {problem}; give --thresholds FILE")
    return thresholds, told["hash"]


def _contradictions(report: ReportJson) -> Iterator[str]:
    """Checklist 51: fewer rows than were scored would be a pass by omission."""
    rows, missing = report["cases"], report["missing"]
    ids = {each["id"] for each in (*rows, *missing)}
    if not ids:
        yield "cases: expected at least one case, got none"
    if len(ids) != report["case_count"]:
        yield f"case_count: expected {len(ids)} as its cases say, got {report['case_count']}"
    pairs = [(each["id"], each["repetition"]) for each in (*rows, *missing)]
    if len(set(pairs)) != len(pairs):
        yield "cases: expected each case and repetition once, got one twice"
    for row in rows:
        unknown = next((each for each in row["violations"] if each not in VIOLATIONS), None)
        if unknown is not None:
            yield f"case {row['id'][:80]!r}: violations: expected {', '.join(VIOLATIONS)}, got {unknown[:80]!r}"
        if row["gated_recall"] is not None and not 0 <= row["gated_recall"] <= 1:
            yield f"case {row['id'][:80]!r}: gated_recall: expected a number from 0 to 1, got {row['gated_recall']}"


def _first(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    place = visible(".".join(str(each) for each in first["loc"]))
    return f"{place}: {first['msg']}" if place else first["msg"]
