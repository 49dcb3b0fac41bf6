"""`rag-probe metrics`: what is measured, and what each figure is divided by (checklist 17)."""

from __future__ import annotations

import sys
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from rag_probe_collector.metrics import METRICS
from rag_probe_collector.reports import dump

_Json = Annotated[bool, typer.Option("--json", help="Print a JSON list and nothing else.")]


def metrics(*, as_json: _Json = False) -> int:
    """List the metrics; another cut than the ones shown may be named in a thresholds file, as nDCG@3."""
    rows = [
        {"name": each.name, "denominator": each.denominator, "proportion": each.proportion, "better": each.better}
        for each in METRICS
    ]
    if as_json:
        sys.stdout.write(dump(rows).decode() + "\n")
        return 0
    table = Table("metric", "divided by", "better", box=box.SIMPLE_HEAD, pad_edge=False)
    for metric in METRICS:
        table.add_row(metric.name, metric.denominator, metric.better)
    Console(highlight=False).print(table)
    return 0
