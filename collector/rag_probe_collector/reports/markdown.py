"""report.md: for a pull request. What came from outside stands in code spans, where Markdown does nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final
from urllib.parse import quote

from rag_probe_collector.gate import ReportJson
from rag_probe_collector.gate.report_json import GatedCase
from rag_probe_collector.register import visible
from rag_probe_collector.reports.words import (
    NONE,
    again,
    broke,
    count,
    dollars,
    figure,
    in_prompt,
    judged,
    links,
    milliseconds,
    name,
    route,
    share,
    tested,
    wrong,
)
from rag_probe_collector.scoring.case_schema import VerdictJson

_VERDICTS: Final = 50
"""Of one case."""
_ADDRESS: Final = ":/?#@!$&'()*+,;=%[]-._~"


def markdown(report: ReportJson) -> bytes:
    """GitHub's Markdown, in UTF-8."""
    return ("\n".join(_lines(report)) + "\n").encode("utf-8", "replace")


def code(text: str) -> str:
    """A code span for a table's cell that shows just `text`."""
    shown = visible(text).replace("|", "\\|")
    fence = "`" * (max((len(run) for run in re.findall("`+", shown)), default=0) + 1)
    pad = " " if shown[:1] in ("`", " ") or shown[-1:] in ("`", " ") else ""
    return f"{fence}{pad}{shown}{pad}{fence}" if shown else ""


def _lines(report: ReportJson) -> Iterator[str]:
    yield f"# rag-probe: gate {report['gate']}"
    yield ""
    yield from (f"- {_plain(reason)}" for reason in report["reasons"])
    yield ""
    yield from _table(("what", "which"), ((label, code(value)) for label, value in tested(report)))
    yield from _cases(report)
    yield from _graphs(report)
    yield from _missing(report)
    yield from _figures(report)
    yield from _slices(report)
    yield from _exceptions(report)
    yield from (f"> {_plain(warning)}" for warning in report["about"]["warnings"])
    yield f"\n{report['note']}"


def _cases(report: ReportJson) -> Iterator[str]:
    yield "## Cases: where each broke first\n"
    heads = ("case", "verdict", "broke first", "what is wrong", "recall", "in prompt", "claims", "ms", "tokens", "cost")
    yield from _table(heads, (_case(row, report["about"]["trace_url"]) for row in report["cases"]))


def _case(row: GatedCase, template: str | None) -> Sequence[str]:
    link = links(template, row["trace_id"])
    shown = code(name(row))
    if link is not None:
        shown = f"[{shown}](<{quote(link, safe=_ADDRESS, errors='replace')}>)"
    tokens = row["tokens"]
    return (
        shown,
        row["verdict"],
        code(broke(row)) or NONE,
        ", ".join(wrong(row)) or NONE,
        figure(row["gated_recall"]),
        figure(in_prompt(row)),
        figure(row["supported_fraction"]),
        milliseconds(row["latency_ms"]),
        f"{count(tokens['input'])} / {count(tokens['output'])}",
        dollars(row["cost_usd"]),
    )


def _graphs(report: ReportJson) -> Iterator[str]:
    """Of the cases that a graph answered: its way, and what its validations said."""
    ways = [row for row in report["cases"] if row["nodes"]]
    if ways:
        yield "## Graphs: nodes, and how often they ran again\n"
        yield from _table(
            ("case", "nodes", "ran again"), ((code(name(row)), code(route(row)), code(again(row))) for row in ways)
        )
    verdicts = [(row, each) for row in report["cases"] for each in (row["verdicts"] or [])[:_VERDICTS]]
    if verdicts:
        yield "## What validations said of drafts\n"
        yield from _table(
            ("case", "node", "step", "said", "draft", "by its review"),
            (_verdict(row, each) for row, each in verdicts),
        )


def _verdict(row: GatedCase, verdict: VerdictJson) -> Sequence[str]:
    return (
        code(name(row)),
        code(verdict["node"] or "") or NONE,
        count(verdict["step"]),
        "passed" if verdict["passed"] else "refused",
        f"{count(verdict['draft_length'])} characters",
        judged(verdict),
    )


def _missing(report: ReportJson) -> Iterator[str]:
    if report["missing"]:
        yield "## Without a result\n"
        yield from _table(
            ("case", "segment"), ((code(each["id"]), code(each["segment"])) for each in report["missing"])
        )


def _figures(report: ReportJson) -> Iterator[str]:
    yield "## Segments\n"
    yield from _table(
        ("segment", "cases", "answerable", "mean recall"),
        (
            (code(name), str(each["cases"]), str(each["answerable_cases"]), figure(each["mean_evidence_recall"], 3))
            for name, each in report["segments"].items()
        ),
    )
    yield "## Shares, with 95 % Wilson intervals\n"
    shares = {**report["shares"], **report["violations"]}
    yield from _table(("what", "how many"), ((code(name), share(each)) for name, each in shares.items()))
    yield "## Metrics\n"
    yield from _table(
        ("metric", "mean", "cases", "without", "divided by"),
        (
            (code(name), figure(each["mean"], 3), str(each["cases"]), str(each["without"]), each["denominator"])
            for name, each in report["metrics"].items()
        ),
    )
    if report["latency_ms"]:
        yield "## Latency\n"
        yield from _table(
            ("stage", "runs", "median", "95th percentile"),
            (
                (code(stage), str(each["n"]), milliseconds(each["median"]), milliseconds(each["p95"]))
                for stage, each in report["latency_ms"].items()
            ),
        )


def _slices(report: ReportJson) -> Iterator[str]:
    yield "## Slices\n"
    yield from _table(
        ("slice", "value", "cases", "passed", "mean recall"),
        (
            (code(key), code(value), str(each["cases"]), str(each["passed"]), figure(each["mean_recall"], 3))
            for key, values in report["slices"].items()
            for value, each in values.items()
        ),
    )


def _exceptions(report: ReportJson) -> Iterator[str]:
    thresholds = report["thresholds"]
    fixed = f"fixed {_plain(thresholds['decided_at'])}" if thresholds["decided_at"] else "the defaults"
    yield f"Thresholds: {fixed}; minimum recall {thresholds['minimum_recall']:g}; hash {thresholds['hash'] or NONE}\n"
    if thresholds["exceptions"]:
        yield from _table(
            ("exception", "owner", "reason", "expires", "state"),
            (
                (
                    code(" ".join(word for word in (each["case_id"], each["violation"]) if word)),
                    code(each["owner"]),
                    code(each["reason"]),
                    each["expires"],
                    each["state"],
                )
                for each in thresholds["exceptions"]
            ),
        )


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    yield from (f"| {' | '.join(row)} |" for row in rows)
    yield ""


def _plain(text: str) -> str:
    """Text outside of a table in which no mark has a meaning."""
    return re.sub(r"([\\`*_{}\[\]()<>#+.!|~&@:/-])", r"\\\1", visible(text))
