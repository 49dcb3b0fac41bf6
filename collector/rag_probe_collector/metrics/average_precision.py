"""Average precision; its mean over cases is the MAP."""

from __future__ import annotations

from typing import Final

from rag_probe_collector.metrics.facts import Facts
from rag_probe_collector.metrics.one_ranking import one_ranking
from rag_probe_collector.metrics.ranking import average_precision
from rag_probe_collector.metrics.value import Metric, Value, missing


def _compute(facts: Facts) -> Value:
    ranking = one_ranking(facts)
    if isinstance(ranking, str):
        return missing(ranking)
    return Value(average_precision(ranking, facts.labels.useful), n=len(ranking))


METRIC: Final = Metric(name="AP", denominator="all labelled passages, returned or not", compute=_compute)
