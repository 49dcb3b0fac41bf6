"""Checklist 36 and 160: supported / checked claims, as the review that counts for this answer says."""

from __future__ import annotations

from typing import Final

from rag_probe_collector.metrics.facts import Facts
from rag_probe_collector.metrics.value import Metric, Value, missing, proportion


def _compute(facts: Facts) -> Value:
    counts = None if facts.review is None else facts.review.counts
    if not facts.answered:
        return missing("the question was not answered")
    if counts is None:
        return missing("the review is pending")
    return proportion(counts[0], counts[1], "")


METRIC: Final = Metric(name="claim_support", denominator="reviewed claims", compute=_compute)
