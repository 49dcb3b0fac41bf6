"""Reciprocal rank; its mean over cases is the MRR."""

from __future__ import annotations

from typing import Final

from rag_probe_collector.metrics.facts import Facts
from rag_probe_collector.metrics.one_ranking import one_ranking
from rag_probe_collector.metrics.ranking import reciprocal_rank
from rag_probe_collector.metrics.value import Metric, Value, missing


def _compute(facts: Facts) -> Value:
    ranking = one_ranking(facts)
    if isinstance(ranking, str):
        return missing(ranking)
    return Value(reciprocal_rank(ranking, facts.labels.useful), n=len(ranking))


METRIC: Final = Metric(name="MRR", denominator="rank of the first labelled passage", compute=_compute)
