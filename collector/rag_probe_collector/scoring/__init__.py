"""A case × an evidence path → a scored case: deterministic, without any model."""

from rag_probe_collector.scoring.answer_identity import answer_digests, evidence_version
from rag_probe_collector.scoring.beside import FAILING
from rag_probe_collector.scoring.finding import Finding
from rag_probe_collector.scoring.loss import Loss
from rag_probe_collector.scoring.reviewing import Reviews
from rag_probe_collector.scoring.score import score
from rag_probe_collector.scoring.scored import ScoredCase
from rag_probe_collector.scoring.violations import CHECKS

__all__ = [
    "CHECKS",
    "FAILING",
    "Finding",
    "Loss",
    "Reviews",
    "ScoredCase",
    "answer_digests",
    "evidence_version",
    "score",
]
