"""Counts over all rows, each with the number it stands on and how little that proves."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

from rag_probe_collector.gate.averages import gated_recall, mean, per_case
from rag_probe_collector.gate.report_json import GatedCase, LatencyJson, MetricJson, ShareJson, SliceJson
from rag_probe_collector.metrics import find
from rag_probe_collector.metrics.wilson import wilson
from rag_probe_collector.register import VIOLATIONS
from rag_probe_collector.scoring.case_schema import CaseJson


def share(count: int, n: int) -> ShareJson:
    """A proportion with its interval."""
    low, high = wilson(count, n) or (None, None)
    return {"count": count, "n": n, "value": count / n if n else None, "low": low, "high": high}


def violation_shares(rows: Sequence[CaseJson]) -> dict[str, ShareJson]:
    """Each of the eight, also those that occurred nowhere: 0 of n shows its upper bound."""
    return {name: share(sum(name in row["violations"] for row in rows), len(rows)) for name in VIOLATIONS}


def other_shares(rows: Sequence[GatedCase]) -> dict[str, ShareJson]:
    """Support, citations and silence apart (checklist 1), and how many rows passed."""
    silence = [row["abstention_correct"] for row in rows if row["abstention_correct"] is not None]
    return {
        "passed": share(sum(row["verdict"] == "pass" for row in rows), len(rows)),
        "abstention_correct": share(silence.count(True), len(silence)),
        "claims_supported": _pooled(rows, "claim_support"),
        "citations_valid": _pooled(rows, "citation_validity"),
        "verdicts_right": _pooled(rows, "verdict_accuracy"),
        "evidence_retrieved": _pooled(rows, "requirement_recall@retrieved"),
        "evidence_in_context": _pooled(rows, "requirement_recall@context"),
    }


def _pooled(rows: Iterable[CaseJson], name: str) -> ShareJson:
    values = [row["metrics"][name] for row in rows if name in row["metrics"]]
    known = [each for each in values if each["value"] is not None]
    return share(
        int(sum(each["numerator"] or 0 for each in known)), int(sum(each["denominator"] or 0 for each in known))
    )


def metric_means(rows: Sequence[CaseJson]) -> dict[str, MetricJson]:
    """Each metric's mean over the cases that have it, and how many do not."""
    found: dict[str, MetricJson] = {}
    for name in dict.fromkeys(name for row in rows for name in row["metrics"]):
        values = per_case(
            rows, lambda row, name=name: row["metrics"][name]["value"] if name in row["metrics"] else None
        )
        known = [value for value in values.values() if value is not None]
        metric = find(name)
        found[name] = {
            "mean": mean(known),
            "cases": len(known),
            "without": len(values) - len(known),
            "denominator": "" if metric is None else metric.denominator,
        }
    return found


def slices(rows: Sequence[GatedCase]) -> dict[str, dict[str, SliceJson]]:
    """By the register's slices, tenant, answerability and impact: each value with its count (checklist 69)."""
    groups: dict[str, dict[str, list[GatedCase]]] = {}
    for row in rows:
        for key, value in _keys(row):
            groups.setdefault(key, {}).setdefault(value, []).append(row)
    return {key: {value: _slice(each) for value, each in values.items()} for key, values in groups.items()}


def _keys(row: CaseJson) -> Iterable[tuple[str, str]]:
    if row["tenant"] is not None:
        yield "tenant", row["tenant"]
    yield "answerable", "yes" if row["answerable"] else "no"
    yield "impact", row["impact"]
    yield from ((key, value) for key, value in row["slices"].items() if key not in ("tenant", "answerable", "impact"))


def _slice(rows: Sequence[GatedCase]) -> SliceJson:
    failed = {row["id"] for row in rows if row["verdict"] != "pass"}
    ids = {row["id"] for row in rows}
    recalls = per_case(rows, gated_recall).values()
    return {
        "cases": len(ids),
        "passed": len(ids - failed),
        "mean_recall": mean(value for value in recalls if value is not None),
    }


def broken_stages(rows: Iterable[CaseJson]) -> dict[str, int]:
    """How many rows broke first where, the most frequent first."""
    counts = Counter(row["broken_stage"] for row in rows if row["broken_stage"] != "none")
    return dict(counts.most_common())


def total_cost(rows: Iterable[CaseJson]) -> float | None:
    """Of the rows whose cost is known; None when it is known of none."""
    known = [row["cost_usd"] for row in rows if row["cost_usd"] is not None]
    return math.fsum(known) if known else None


def latencies(rows: Iterable[CaseJson]) -> dict[str, LatencyJson]:
    """Of the whole path, and of each stage, over the rows that have it."""
    times: dict[str, list[float]] = {}
    for row in rows:
        if row["latency_ms"] is not None:
            times.setdefault("total", []).append(row["latency_ms"])
        for stage, value in row["stage_latency_ms"].items():
            times.setdefault(stage, []).append(value)
    return {stage: _latency(sorted(values)) for stage, values in times.items()}


def _latency(ordered: Sequence[float]) -> LatencyJson:
    """Nearest-rank percentiles: always a value that was measured."""
    return {
        "n": len(ordered),
        "median": ordered[math.ceil(0.5 * len(ordered)) - 1],
        "p95": ordered[math.ceil(0.95 * len(ordered)) - 1],
    }
