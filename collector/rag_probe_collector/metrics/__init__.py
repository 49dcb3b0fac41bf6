"""The metrics: one file each, one line here. None of them calls a model, and nothing adds them up."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from rag_probe_collector.metrics import (
    average_precision,
    chunk_precision,
    citation_precision_evidence,
    citation_validity,
    claim_support,
    context_tokens,
    evidence_recall,
    filter_correctness,
    permission_correctness,
    prompt_evidence_recall,
    reciprocal_rank,
    requirement_recall,
    verdict_accuracy,
)
from rag_probe_collector.metrics.claim_shares import (
    CITATION_COVERAGE,
    CITATION_PRECISION_SUPPORT,
    CITED_SUPPORT,
    CONTEXT_SUPPORT,
    CORRECTNESS,
)
from rag_probe_collector.metrics.ndcg_at import ndcg_at
from rag_probe_collector.metrics.precision_at import precision_at
from rag_probe_collector.metrics.recall_at import recall_at
from rag_probe_collector.metrics.value import Metric

FAMILIES: Final[Mapping[str, Callable[[int], Metric]]] = {
    "precision": precision_at,
    "recall": recall_at,
    "nDCG": ndcg_at,
}
"""Metrics that take a cut: `nDCG@10`."""

METRICS: Final[tuple[Metric, ...]] = (
    evidence_recall.METRIC,
    prompt_evidence_recall.METRIC,
    *requirement_recall.METRICS,
    chunk_precision.METRIC,
    precision_at(5),
    recall_at(5),
    ndcg_at(10),
    reciprocal_rank.METRIC,
    average_precision.METRIC,
    filter_correctness.METRIC,
    permission_correctness.METRIC,
    citation_validity.METRIC,
    citation_precision_evidence.METRIC,
    CITATION_PRECISION_SUPPORT,
    CITATION_COVERAGE,
    CITED_SUPPORT,
    CONTEXT_SUPPORT,
    CORRECTNESS,
    claim_support.METRIC,
    verdict_accuracy.METRIC,
    context_tokens.METRIC,
)
"""What every report holds."""

_BY_NAME: Final = {metric.name: metric for metric in METRICS}
_CUT: Final = re.compile(r"([A-Za-z]+)@([1-9][0-9]{0,4})")


def find(name: str) -> Metric | None:
    """The metric of that name, also with another cut than the report's; None when there is none."""
    if name in _BY_NAME:
        return _BY_NAME[name]
    cut = _CUT.fullmatch(name)
    family = FAMILIES.get(cut[1]) if cut else None
    return None if cut is None or family is None else family(int(cut[2]))
