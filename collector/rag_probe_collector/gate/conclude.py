"""From scored rows to a gated report: the same function whether the rows were just scored or read from a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Final

from rag_probe_collector.gate.averages import segments
from rag_probe_collector.gate.limits import missed
from rag_probe_collector.gate.report_json import (
    NOTE,
    SCHEMA,
    AboutJson,
    GatedCase,
    MissingJson,
    ReportJson,
    ThresholdsJson,
)
from rag_probe_collector.gate.summary import (
    broken_stages,
    latencies,
    metric_means,
    other_shares,
    slices,
    total_cost,
    violation_shares,
)
from rag_probe_collector.gate.verdicts import judge
from rag_probe_collector.gate.waivers import Waivers
from rag_probe_collector.register import Thresholds
from rag_probe_collector.scoring.case_schema import CaseJson

PASSED: Final = 0
FAILED: Final = 1
UNUSABLE: Final = 2
INCOMPLETE: Final = 3
PENDING: Final = 4


def conclude(
    rows: Sequence[CaseJson],
    missing: Sequence[MissingJson],
    about: AboutJson,
    thresholds: Thresholds,
    digest: str | None,
    today: date,
) -> ReportJson:
    """Judge every row, then the whole: incomplete before failed before pending before passed (contracts 6)."""
    waivers = Waivers(thresholds, today)
    cases = [_gated(row, waivers) for row in rows]
    by_segment, means = segments(rows, missing), metric_means(rows)
    limits = list(missed(thresholds, by_segment, means))
    counts = {**dict.fromkeys(("pass", "fail", "pending", "incomplete"), 0), **Counter(row["verdict"] for row in cases)}
    counts["missing"] = len(missing)
    unread = about.get("unread", [])
    code = INCOMPLETE if unread else _exit_code(counts, limits)
    return {
        "schema": SCHEMA,
        "gate": "PASS" if code == PASSED else "FAIL",
        "exit_code": code,
        "reasons": [*unread, *_counted(counts), *limits],
        "case_count": len({row["id"] for row in rows} | {each["id"] for each in missing}),
        "counts": counts,
        "segments": by_segment,
        "violations": violation_shares(rows),
        "shares": other_shares(cases),
        "broken_stages": broken_stages(rows),
        "metrics": means,
        "slices": slices(cases),
        "latency_ms": latencies(rows),
        "cost_usd": total_cost(rows),
        "cost_unknown": sum(row["cost_usd"] is None for row in rows),
        "thresholds": _thresholds(thresholds, digest, waivers),
        "about": about,
        "cases": cases,
        "missing": list(missing),
        "note": NOTE,
    }


def _gated(row: CaseJson, waivers: Waivers) -> GatedCase:
    word = judge(row, waivers)
    return {**row, "verdict": word.verdict, "why": list(word.why), "waived": list(word.waived)}


def _exit_code(counts: Mapping[str, int], limits: Sequence[str]) -> int:
    if counts["missing"] or counts["incomplete"]:
        return INCOMPLETE
    if counts["fail"] or limits:
        return FAILED
    return PENDING if counts["pending"] else PASSED


def _counted(counts: Mapping[str, int]) -> list[str]:
    words = {
        "missing": "without a result",
        "incomplete": "undecided: a strict input was not captured",
        "fail": "failed",
        "pending": "waiting for a review",
    }
    return [f"{counts[name]} {word}" for name, word in words.items() if counts[name]]


def _thresholds(thresholds: Thresholds, digest: str | None, waivers: Waivers) -> ThresholdsJson:
    return {
        "hash": digest,
        "decided_at": thresholds.decided_at,
        "minimum_recall": thresholds.minimum_recall,
        "metrics": {name: {"min": each.min, "max": each.max} for name, each in thresholds.metrics.items()},
        "blockers": list(thresholds.blockers),
        "inferred": thresholds.inferred,
        "accept_not_captured": list(thresholds.accept_not_captured),
        "exceptions": waivers.told(),
    }
