"""Findings beside the eight violations: what a release must not hide although the strict profile has no name for it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rag_probe_collector.metrics.facts import Facts
from rag_probe_collector.scoring.finding import Finding

FAILING: Final = frozenset({"run_failed", "incorrect_claim"})
"""Of these, what fails a case: silence by accident is not deliberate, and a supported claim may be wrong."""


def run_failed(facts: Facts) -> Iterator[Finding]:
    """The run ended in an error."""
    error, answer = facts.path.error, facts.path.answer
    if error is not None or (answer is not None and answer.outcome == "error"):
        yield Finding("run_failed", "error", reason=error)


def incorrect_claim(facts: Facts) -> Iterator[Finding]:
    """Checklist 101 to 118: claims that a reviewer calls wrong against current facts, supported or not."""
    claims = () if facts.review is None or not facts.answered else facts.review.claims or ()
    wrong = [claim for claim in claims if claim.correct_against_current_rules is False]
    if wrong:
        ids = tuple(dict.fromkeys(claim.cited_span_id for claim in wrong if claim.cited_span_id is not None))
        yield Finding("incorrect_claim", "answer", ids, f"{len(wrong)} of {len(claims)} claims are wrong")


def outcome_unexpected(facts: Facts) -> Iterator[Finding]:
    """Checklist 126: another outcome than the case expects."""
    expected = facts.labels.case.expected_outcome
    outcome = None if facts.path.answer is None else facts.path.answer.outcome
    if expected is not None and outcome is not None and outcome != expected:
        yield Finding("outcome_unexpected", "answer", reason=f"expected {expected}, got {outcome}")


def other_tenant(facts: Facts) -> Iterator[Finding]:
    """The question was asked for another tenant than the labels are about, so they may not fit."""
    case, identity = facts.labels.case, facts.path.identity
    labelled = case.tenant if case.identity is None else case.identity.tenant or case.tenant
    if identity is not None and None not in (labelled, identity.tenant) and labelled != identity.tenant:
        yield Finding("other_tenant", "identity", reason="the run's tenant is not the case's")


def incomplete_trace(facts: Facts) -> Iterator[Finding]:
    """Spans are missing or were ended by their root."""
    if facts.path.partial:
        yield Finding("incomplete_trace")


def wrong_verdict(facts: Facts) -> Iterator[Finding]:
    """Issue C, validation apart: a bad draft passed, or a good one was refused; each time that it happened."""
    for verdict, good in zip(facts.path.verdicts or (), facts.drafts, strict=True):
        if good is not None and good is not verdict.passed:
            said = "refused a good draft" if good else "passed a bad draft"
            step = "" if verdict.step is None else f" in step {verdict.step}"
            yield Finding("wrong_verdict", "verdicts", reason=f"{verdict.node or 'a validation'} {said}{step}")


BESIDE: Final = (run_failed, incorrect_claim, wrong_verdict, outcome_unexpected, other_tenant, incomplete_trace)
