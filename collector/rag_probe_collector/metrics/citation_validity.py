"""Checklist 109: distinct citations that resolve to a passage the model was given / distinct citations."""

from __future__ import annotations

from typing import Final

from rag_probe_collector.metrics.facts import Facts
from rag_probe_collector.metrics.lineage import unrelated
from rag_probe_collector.metrics.value import Metric, Value, missing, proportion


def _compute(facts: Facts) -> Value:
    cited, context = facts.shown.cited, facts.shown.context
    if cited is None or context is None:
        return missing(f"{'citations' if cited is None else 'context'} was not captured")
    unresolved = unrelated(cited, context, facts.shown.parents)
    return proportion(len(cited) - len(unresolved), len(cited), "the answer cites nothing")


METRIC: Final = Metric(name="citation_validity", denominator="distinct citations", compute=_compute)
