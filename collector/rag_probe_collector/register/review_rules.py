"""When a review counts as one at all (checklist 35)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rag_probe_collector.register.review import Review

_NO_CLAIM: Final = "an answer that claims nothing is none: have the app tell its outcome, abstained or clarification"


def faults(review: Review) -> Iterator[str]:
    """One line for each rule that the review breaks; its types are already right."""
    if not review.reviewer.strip():
        yield "reviewer: expected a name that is not blank; say who reviewed"
    total, supported = review.total_claims, review.supported_claims
    if review.claims is None and (total is None or supported is None):
        yield "total_claims: expected total_claims and supported_claims, or claims; add them"
    if review.claims is not None and not review.claims:
        yield f"claims: expected at least one claim, got none; {_NO_CLAIM}"
    if total is not None and total < 1:
        yield f"total_claims: expected at least 1, got {total}; {_NO_CLAIM}"
    if total is not None and supported is not None and not 0 <= supported <= total:
        yield f"supported_claims: expected a number from 0 to {total}, got {supported}"
    yield from _disagreement(review)


def _disagreement(review: Review) -> Iterator[str]:
    counts = review.support
    if review.claims is None or counts is None:
        return
    for name, told, counted in (
        ("supported_claims", review.supported_claims, counts[0]),
        ("total_claims", review.total_claims, counts[1]),
    ):
        if told is not None and told != counted:
            yield f"{name}: expected {counted} as its claims say, got {told}; leave it out"
