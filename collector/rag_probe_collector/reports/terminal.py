"""The report on a terminal: a line for each case that says where it broke first, then the gate."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from typing import Final

from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from rag_probe_collector.gate import ReportJson
from rag_probe_collector.gate.report_json import GatedCase
from rag_probe_collector.register import visible
from rag_probe_collector.reports.words import (
    accused,
    broke,
    count,
    dollars,
    figure,
    headline,
    in_prompt,
    milliseconds,
    name,
    share,
    tested,
    wrong,
)

_COLUMNS: Final = {"recall": 0, "latency": 92, "claims": 120, "tokens": 120, "cost": 120}
"""Figures in their order, and how wide a terminal must be to show each."""

_FEW: Final = 3
"""Passages named in a line."""
_LONG: Final = 40

_STYLE: Final = {"pass": "green", "fail": "red", "pending": "yellow", "incomplete": "magenta"}


def print_report(report: ReportJson, console: Console | None = None) -> None:
    """Write it to stdout, or to `console`; a narrow terminal gets fewer columns."""
    console = console or Console(highlight=False)
    console.print(Group(*_parts(report, console.width)), crop=False)


def _parts(report: ReportJson, width: int) -> Iterator[RenderableType]:
    yield Text("  ".join(f"{label} {visible(value)}" for label, value in tested(report)), style="dim")
    yield _cases(report, width)
    yield _segments(report)
    if report["latency_ms"]:
        yield _latency(report)
    for each in report["missing"]:
        yield Text(f"missing  {visible(each['id'])}: no result answers it", style="magenta")
    for warning in report["about"]["warnings"]:
        yield Text(f"warning  {visible(warning)}", style="yellow")
    if report["about"]["left_out"]:
        yield Text(f"left out  {report['about']['left_out']} paths without a case id", style="dim")
    yield Text(f"scope leaks {share(report['violations']['scope_leak'])}  passed {share(report['shares']['passed'])}")
    yield Text(visible(headline(report)), style="bold green" if report["gate"] == "PASS" else "bold red")
    yield from _review(report)
    yield Text(report["note"], style="dim")


def _cases(report: ReportJson, width: int) -> Table:
    table = Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False)
    table.add_column("case", overflow="fold", max_width=36)
    table.add_column("verdict", no_wrap=True)
    table.add_column("broke first", overflow="fold", min_width=26)
    headings = [heading for heading, least in _COLUMNS.items() if width >= least]
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    for row in report["cases"]:
        table.add_row(*islice(_case(row), 3 + len(headings)))
    return table


def _case(row: GatedCase) -> Iterator[Text]:
    style, tokens = _STYLE[row["verdict"]], row["tokens"]
    yield Text(visible(name(row)))
    yield Text(row["verdict"], style=style)
    yield _broke(row, style)
    yield Text(f"{figure(row['gated_recall'])} › {figure(in_prompt(row))}")
    yield Text(milliseconds(row["latency_ms"]))
    yield Text(figure(row["supported_fraction"]))
    yield Text(f"{count(tokens['input'])} › {count(tokens['output'])}")
    yield Text(dollars(row["cost_usd"]))


def _broke(row: GatedCase, style: str) -> Text:
    """Where first, and under it what else is to be said."""
    names = [_violation(row, each) for each in wrong(row) if each != row["mechanism"]]
    beside = [*names, *(f"{gap} not captured" for gap in row["not_captured"])]
    lines = Text(visible(broke(row)), style=style if row["verdict"] != "pass" else "")
    if beside:
        lines.append(("\n" if lines else "") + visible(", ".join(beside)), style="dim")
    return lines


def _violation(row: GatedCase, violation: str) -> str:
    """`scope_leak payroll-2024`: with the passages that one will look for first."""
    ids = [each if len(each) <= _LONG else f"{each[: _LONG - 1]}…" for each in accused(row, violation)]
    more = [f"and {len(ids) - _FEW} more"] if len(ids) > _FEW else []
    return " ".join([violation, *ids[:_FEW], *more])


def _review(report: ReportJson) -> Iterator[Text]:
    """How the first of the answers that wait could be reviewed."""
    waiting = next((row for row in report["cases"] if "review_pending" in row["violations"]), None)
    if waiting is not None:
        known = json.dumps({"case_id": waiting["id"], "path_id": waiting["path_id"]})
        counts = '"total_claims": N, "supported_claims": N, "reviewer": NAME'  # nobody passes a review by copying
        yield Text("to review one, add this line to the file of --reviews, with your figures:", style="dim")
        yield Text(f"{known[:-1]}, {counts}}}", style="dim", no_wrap=True, overflow="ignore")  # copied as it stands


def _segments(report: ReportJson) -> Table:
    table = _table("segment", "cases", "answerable", "mean recall")
    for segment, each in report["segments"].items():
        table.add_row(
            Text(visible(segment)),
            str(each["cases"]),
            str(each["answerable_cases"]),
            figure(each["mean_evidence_recall"], 3),
        )
    return table


def _latency(report: ReportJson) -> Table:
    table = _table("stage", "runs", "median", "95th percentile")
    for stage, each in report["latency_ms"].items():
        table.add_row(Text(visible(stage)), str(each["n"]), milliseconds(each["median"]), milliseconds(each["p95"]))
    return table


def _table(*headings: str) -> Table:
    return Table(*headings, box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False)
