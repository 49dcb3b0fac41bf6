"""What a human, or an audited judge, said about one answer (checklist 35, 101 to 116, 142; contracts 5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from rag_probe_collector.register.recorded_id import RecordedId


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One material assertion of an answer and its three labels, kept apart. A label that is None is not given yet."""

    claim: str
    question_id: str | None = None
    supplied_context_ids: tuple[RecordedId, ...] = ()
    cited_span_id: RecordedId | None = None
    correct_against_current_rules: bool | None = None
    supported_by_supplied_context: bool | None = None
    supported_by_attached_citation: bool | None = None
    reason: str | None = None
    severity: str | None = None
    needs_citation: bool = True

    @property
    def supported(self) -> bool | None:
        """By the context and, where it needs one, by its citation; None while a needed label is missing."""
        labels = [self.supported_by_supplied_context]
        if self.needs_citation:
            labels.append(self.supported_by_attached_citation)
        if False in labels:
            return False
        return None if None in labels else True


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """Labels of one answer, bound to it by path id or by the digest of its text."""

    case_id: str
    reviewer: str
    experiment: str | None = None
    path_id: str | None = None
    answer_digest: str | None = None
    evidence_version: str | None = None
    """Of the context that the reviewer saw."""
    claims: tuple[Claim, ...] | None = None
    total_claims: int | None = None
    supported_claims: int | None = None
    reviewed_at: str | None = None
    rationale: str | None = None

    @property
    def counts(self) -> Counts | None:
        """(supported, total); None while a label is missing, also that of correctness (contracts 5)."""
        judged = all(claim.correct_against_current_rules is not None for claim in self.claims or ())
        return self.support if judged else None

    @property
    def support(self) -> Counts | None:
        """(supported, total), whatever is known of correctness; None while a label of support is missing.

        Of no claims at all nobody has said anything: a share of them would be none.
        """
        if self.claims is None:
            supported, total = self.supported_claims, self.total_claims
            return (supported, total) if supported is not None and total else None
        verdicts = [claim.supported for claim in self.claims]
        return None if not verdicts or None in verdicts else (verdicts.count(True), len(verdicts))


Counts: TypeAlias = tuple[int, int]
