"""`rag-probe gate`: decide again on a report, without scoring: after a review of limits, or when an exception ended."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from rag_probe_collector.cli.score import show
from rag_probe_collector.errors import InputError
from rag_probe_collector.gate import conclude, metrics_for, read_report, thresholds_of
from rag_probe_collector.register import load_thresholds, visible

_Report = Annotated[Path, typer.Argument(metavar="REPORT", help="The folder of `score --out`, or its report.json.")]
_Thresholds = Annotated[Path | None, typer.Option(metavar="FILE", help="Other limits than those of the report.")]
_Json = Annotated[bool, typer.Option("--json", help="Print the report as JSON and nothing else.")]


def gate(report: _Report, *, thresholds: _Thresholds = None, as_json: _Json = False) -> int:
    """Gate a report again. Exits as `score` does."""
    old = read_report(report)
    limits, digest = thresholds_of(old) if thresholds is None else load_thresholds(thresholds)
    name = visible(str(report if thresholds is None else thresholds))
    measured = {metric.name for metric in metrics_for(limits, name)} & old["metrics"].keys()
    absent = next((each for each in limits.metrics if each not in measured), None)
    if absent is not None:
        raise InputError(f"{name}: metrics: {absent} is not in {visible(str(report))}; score again with these limits")
    new = conclude(old["cases"], old["missing"], old["about"], limits, digest, datetime.now(UTC).date())
    show(new, as_json=as_json)
    return new["exit_code"]
