"""nDCG@k with linear gain; every labelled passage has grade 1."""

from __future__ import annotations

from rag_probe_collector.metrics.facts import Facts
from rag_probe_collector.metrics.one_ranking import one_ranking
from rag_probe_collector.metrics.ranking import ndcg
from rag_probe_collector.metrics.value import Metric, Value, missing


def ndcg_at(k: int) -> Metric:
    """The metric at a cut of `k` >= 1."""

    def compute(facts: Facts) -> Value:
        ranking = one_ranking(facts)
        if isinstance(ranking, str):
            return missing(ranking)
        return Value(ndcg(ranking, dict.fromkeys(facts.labels.useful, 1.0), k), n=len(ranking[:k]))

    return Metric(
        name=f"nDCG@{k}", denominator=f"gain of the ideal order of all labelled passages, cut at {k}", compute=compute
    )
