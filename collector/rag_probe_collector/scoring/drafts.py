"""Whether the drafts that validations judged were good: reviews say it, and nobody else (contracts 6, validation)."""

from __future__ import annotations

from rag_probe.path import EvidencePath, Verdict
from rag_probe_collector.register import Review
from rag_probe_collector.scoring.reviewing import Reviews


def goodness(case_id: str, path: EvidencePath, review: Review | None, reviews: Reviews) -> tuple[bool | None, ...]:
    """For each verdict of the path whether its draft was good; None: no review counts for it.

    `review` is the one that counts for the answer, and so for a draft that came out as the answer.
    """
    return tuple([_good(_review_of(each, case_id, path, review, reviews)) for each in path.verdicts or ()])


def _review_of(
    verdict: Verdict, case_id: str, path: EvidencePath, review: Review | None, reviews: Reviews
) -> Review | None:
    if verdict.draft is None:
        return None
    if verdict.final or (verdict.final is None and reviews.is_answer(verdict.draft, path)):
        return review
    return reviews.for_draft(case_id, path, verdict.draft)


def _good(review: Review | None) -> bool | None:
    """Every claim supported and none of them wrong."""
    counts = None if review is None else review.counts
    if review is None or counts is None:
        return None
    return counts[0] == counts[1] and all(claim.correct_against_current_rules for claim in review.claims or ())
