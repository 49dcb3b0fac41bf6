"""Checklist 14: |gold ∩ prompt| / |gold|; beside evidence recall it shows what context assembly lost."""

from __future__ import annotations

from typing import Final

from rag_probe_collector.metrics.evidence_recall import recall_of
from rag_probe_collector.metrics.value import Metric

METRIC: Final = Metric(
    name="prompt_evidence_recall",
    denominator="gold passages of the case",
    compute=lambda facts: recall_of(facts.shown.context, "context", facts),
)
