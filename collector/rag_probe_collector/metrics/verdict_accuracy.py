"""Checklist 170, issue C: how often a validation was right, of the verdicts whose draft a review decides."""

from __future__ import annotations

from typing import Final

from rag_probe_collector.metrics.facts import Facts
from rag_probe_collector.metrics.value import Metric, Value, missing, proportion


def _compute(facts: Facts) -> Value:
    verdicts = facts.path.verdicts
    if verdicts is None:
        return missing("no validation was captured")
    right = [verdict.passed is good for verdict, good in zip(verdicts, facts.drafts, strict=True) if good is not None]
    undecided = len(verdicts) - len(right)
    open_ones = f"{undecided} of {len(verdicts)} verdicts are undecided: no review counts for their drafts"
    found = proportion(right.count(True), len(right), open_ones if verdicts else "no draft was judged")
    return found._replace(n=len(verdicts), reason=open_ones if undecided else found.reason)


METRIC: Final = Metric(name="verdict_accuracy", denominator="verdicts whose draft a review decides", compute=_compute)
