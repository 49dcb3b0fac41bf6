"""Checklist 13: |gold ∩ retrieved| / |gold|."""

from __future__ import annotations

from typing import Final

from rag_probe_collector.metrics.facts import Facts
from rag_probe_collector.metrics.lineage import unrelated
from rag_probe_collector.metrics.value import Metric, Value, missing, proportion


def recall_of(present: frozenset[str] | None, stage: str, facts: Facts) -> Value:
    """The share of the gold passages that `present` holds, themselves or through parents."""
    gold = facts.labels.gold
    if not gold:
        return missing("the case has no gold passages")
    if present is None:
        return missing(f"{stage} was not captured")
    found = len(gold) - len(unrelated(gold, present, facts.shown.parents))
    return proportion(found, len(gold), "")


METRIC: Final = Metric(
    name="evidence_recall",
    denominator="gold passages of the case",
    compute=lambda facts: recall_of(facts.shown.retrieved, "retrieved", facts),
)
