"""Checklist 157, first sense: distinct citations that belong to the expected evidence / distinct citations."""

from __future__ import annotations

from typing import Final

from rag_probe_collector.metrics.facts import Facts
from rag_probe_collector.metrics.lineage import unrelated
from rag_probe_collector.metrics.value import Metric, Value, missing, proportion


def _compute(facts: Facts) -> Value:
    cited = facts.shown.cited
    if cited is None:
        return missing("citations was not captured")
    if not facts.labels.useful:
        return missing("no passage is labelled as evidence")
    beside = unrelated(cited, facts.labels.useful, facts.shown.parents)
    return proportion(len(cited) - len(beside), len(cited), "the answer cites nothing")


METRIC: Final = Metric(name="citation_precision_evidence", denominator="distinct citations", compute=_compute)
