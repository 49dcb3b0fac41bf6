"""What a release must reach, fixed before the results are seen (checklist 49, 50, 58)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Final, Literal, TypeAlias, get_args

Violation: TypeAlias = Literal[
    "scope_leak",
    "prompt_outside_retrieval",
    "invalid_citation",
    "answer_evidence_mismatch",
    "should_abstain",
    "false_abstention",
    "review_pending",
    "unsupported_claim",
]

StrictInput: TypeAlias = Literal["retrieved", "context", "citations", "answer.outcome"]
"""What a strict verdict needs; without it a case is undecided."""

VIOLATIONS: Final[tuple[Violation, ...]] = get_args(Violation)
"""In the order of checklist 28 to 37."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """Limits for the mean of a metric over the cases that have it."""

    min: float | None = None
    max: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiver:
    """An exception: an investigated violation that may pass until `expires`, included, in UTC."""

    owner: str
    reason: str
    expires: date
    case_id: str | None = None
    violation: Violation | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """The defaults are those of a gate without a file."""

    minimum_recall: float = 0.9
    """Of the mean recall in each segment that has answerable cases."""
    metrics: Mapping[str, Bound] = field(default_factory=dict[str, Bound])
    blockers: tuple[Violation, ...] = ("scope_leak",)
    """Violations that no exception excuses."""
    inferred: Literal["fail", "review"] = "review"
    """What a violation that rests on an inferred value does to its case."""
    accept_not_captured: tuple[StrictInput, ...] = ()
    """Strict inputs that may be missing."""
    exceptions: tuple[Waiver, ...] = ()
    decided_at: str | None = None
    schema: str | None = None
