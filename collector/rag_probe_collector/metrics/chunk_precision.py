"""Checklist 96: useful passages supplied to the model / all supplied, duplicates counted once."""

from __future__ import annotations

from typing import Final

from rag_probe_collector.metrics.facts import Facts
from rag_probe_collector.metrics.lineage import unrelated
from rag_probe_collector.metrics.value import Metric, Value, missing, proportion


def _compute(facts: Facts) -> Value:
    supplied = facts.shown.context
    if supplied is None:
        return missing("context was not captured")
    if not facts.labels.useful:
        return missing("no passage is labelled as evidence")
    useless = unrelated(supplied, facts.labels.useful, facts.shown.parents)
    return proportion(len(supplied) - len(useless), len(supplied), "the context was empty")


METRIC: Final = Metric(name="chunk_precision", denominator="distinct passages in the final context", compute=_compute)
