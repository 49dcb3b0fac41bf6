"""Recall@k: facts that the first k passages cover / facts that need passages: one alternative is as good as another."""

from __future__ import annotations

from rag_probe_collector.metrics.coverage import covered_by
from rag_probe_collector.metrics.facts import Facts
from rag_probe_collector.metrics.one_ranking import one_ranking
from rag_probe_collector.metrics.value import Metric, Value, missing, proportion


def recall_at(k: int) -> Metric:
    """The metric at a cut of `k` >= 1."""

    def compute(facts: Facts) -> Value:
        ranking = one_ranking(facts)
        if isinstance(ranking, str):
            return missing(ranking)
        first, needs = frozenset(ranking[:k]), facts.labels.needs
        found = [need for need in needs if covered_by(need, first, "retrieved", facts.shown)]
        return proportion(len(found), len(needs), "no fact of the case needs a passage")

    return Metric(name=f"recall@{k}", denominator="requirements (without requirements: gold passages)", compute=compute)
