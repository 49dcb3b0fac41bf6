"""Checklist 153: permission decisions that agree with the case's allowed passages / decisions."""

from __future__ import annotations

from typing import Final

from rag_probe_collector.metrics.facts import Facts
from rag_probe_collector.metrics.lineage import not_made_from
from rag_probe_collector.metrics.value import Metric, Value, missing, proportion


def _compute(facts: Facts) -> Value:
    decisions = facts.path.permissions
    if decisions is None:
        return missing("no permission check was recorded")
    foreign = not_made_from((each.id for each in decisions), facts.labels.allowed, facts.shown.parents)
    right = sum((each.decision == "deny") == (each.id in foreign) for each in decisions)
    return proportion(right, len(decisions), "no passage was checked")


METRIC: Final = Metric(name="permission_correctness", denominator="permission decisions", compute=_compute)
