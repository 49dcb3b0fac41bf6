"""Shares of an answer's reviewed claims (checklist 101 to 112, 157, 158, 160): one label each, never mixed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from rag_probe_collector.metrics.facts import Facts
from rag_probe_collector.metrics.value import Metric, Value, missing, proportion
from rag_probe_collector.register import Claim


def share(facts: Facts, right: Callable[[Claim], bool | None], among: Callable[[Claim], bool], none: str) -> Value:
    """Claims for which `right` holds / those `among` which it is asked; a label that is not given leaves no figure."""
    review = facts.review
    if not facts.answered:
        return missing("the question was not answered")
    if review is None or review.claims is None:
        return missing("no review with claims counts for this answer")
    labels = [right(claim) for claim in review.claims if among(claim)]
    if None in labels:
        return missing("a label is not given yet")
    return proportion(labels.count(True), len(labels), none)


def _every(_: Claim) -> bool:
    return True


CORRECTNESS: Final = Metric(
    name="claim_correctness",
    denominator="reviewed claims",
    compute=lambda facts: share(facts, lambda claim: claim.correct_against_current_rules, _every, ""),
)
CONTEXT_SUPPORT: Final = Metric(
    name="claim_context_support",
    denominator="reviewed claims",
    compute=lambda facts: share(facts, lambda claim: claim.supported_by_supplied_context, _every, ""),
)
CITED_SUPPORT: Final = Metric(
    name="claim_cited_support",
    denominator="reviewed claims that need a citation; an uncited one counts as unsupported",
    compute=lambda facts: share(
        facts,
        lambda claim: claim.cited_span_id is not None and claim.supported_by_attached_citation,
        lambda claim: claim.needs_citation,
        "no claim needs a citation",
    ),
)
CITATION_PRECISION_SUPPORT: Final = Metric(
    name="citation_precision_support",
    denominator="reviewed claims that carry a citation",
    compute=lambda facts: share(
        facts,
        lambda claim: claim.supported_by_attached_citation,
        lambda claim: claim.cited_span_id is not None,
        "no claim carries a citation",
    ),
)
CITATION_COVERAGE: Final = Metric(
    name="citation_coverage",
    denominator="reviewed claims",
    compute=lambda facts: share(facts, lambda claim: claim.cited_span_id is not None, _every, ""),
)
