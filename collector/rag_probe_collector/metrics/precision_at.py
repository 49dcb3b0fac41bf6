"""Precision@k as trec_eval: over k also when fewer were returned (`chunk_precision` is over the number supplied)."""

from __future__ import annotations

from rag_probe_collector.metrics.facts import Facts
from rag_probe_collector.metrics.one_ranking import one_ranking
from rag_probe_collector.metrics.ranking import hits
from rag_probe_collector.metrics.value import Metric, Value, missing, proportion


def precision_at(k: int) -> Metric:
    """The metric at a cut of `k` >= 1."""

    def compute(facts: Facts) -> Value:
        ranking = one_ranking(facts)
        if isinstance(ranking, str):
            return missing(ranking)
        return proportion(hits(ranking, facts.labels.useful, k), k, "")

    return Metric(name=f"precision@{k}", denominator=f"{k}", compute=compute)
