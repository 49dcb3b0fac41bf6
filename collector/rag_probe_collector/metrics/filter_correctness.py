"""Checklist 153: evidence that the filters let pass / evidence that they decided on."""

from __future__ import annotations

from typing import Final

from rag_probe_collector.metrics.facts import Facts
from rag_probe_collector.metrics.value import Metric, Value, missing, proportion


def _compute(facts: Facts) -> Value:
    kept, dropped, useful = facts.shown.filtered, facts.shown.dropped, facts.labels.useful
    if kept is None:
        return missing("no filter was recorded")
    if not useful:
        return missing("no passage is labelled as evidence")
    return proportion(len(kept & useful), len((kept | dropped) & useful), "no evidence reached a filter")


METRIC: Final = Metric(
    name="filter_correctness", denominator="labelled passages that filters decided on", compute=_compute
)
