"""A case and one path that answers it, compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rag_probe.path import EvidencePath
from rag_probe_collector.metrics.coverage import Coverage
from rag_probe_collector.metrics.value import Value
from rag_probe_collector.register import VIOLATIONS, Case, Review
from rag_probe_collector.scoring.answer_identity import evidence_version
from rag_probe_collector.scoring.finding import Finding
from rag_probe_collector.scoring.loss import Loss


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredCase:
    """Checklist 39's row and what explains it. A figure that is None is not applicable or was not captured."""

    case: Case
    path: EvidencePath
    review: Review | None
    """The one that counts for this answer."""
    answered: bool | None
    abstention_correct: bool | None
    findings: tuple[Finding, ...]
    broken_stage: str
    """`none` when no row of contracts 6 applies."""
    mechanism: str | None
    requirements: tuple[tuple[Coverage, Loss | None], ...]
    duplicates: tuple[tuple[str, int], ...]
    """Per stage, how many passages came more than once; stages that were not captured are left out."""
    drafts: tuple[bool | None, ...]
    """For each verdict of the path whether its draft was good; None: no review says so."""
    metrics: Mapping[str, Value]
    not_captured: tuple[str, ...]
    """Strict inputs that nobody recorded, or whose list was cut: what rests on them is undecided. None of a run that
    failed: it did not get so far, and it is decided."""

    @property
    def evidence_version(self) -> str | None:
        """Of the path; worked out when it is asked for."""
        return evidence_version(self.path)

    @property
    def violations(self) -> tuple[str, ...]:
        """The names that occur, of the eight, in their order."""
        found = {each.name for each in self.findings}
        return tuple(name for name in VIOLATIONS if name in found)

    @property
    def gated_by(self) -> str:
        """The recall that the gate asks for: of requirements where the case has some, else of gold passages."""
        return "requirement_recall@retrieved" if self.case.requirements else "evidence_recall"

    @property
    def gated_recall(self) -> Value:
        """Its figure."""
        return self.metrics[self.gated_by]
