"""Where an answer broke first: the rows of contracts 6, in their order; the first that applies is the one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, Protocol

from rag_probe_collector.metrics.facts import Facts
from rag_probe_collector.register import Claim, follows
from rag_probe_collector.scoring.finding import Finding
from rag_probe_collector.scoring.loss import Loss
from rag_probe_collector.scoring.seen import seen

Findings = Mapping[str, Sequence[Finding]]


class Broken(NamedTuple):
    """The stage and how it broke."""

    stage: str
    mechanism: str


class Row(Protocol):
    """One row: what it says of an answer, or None when it does not apply."""

    def __call__(self, facts: Facts, findings: Findings, losses: Sequence[Loss]) -> Broken | None:
        """`findings` by name, `losses` of the needed facts in their order."""
        ...


def first_broken(facts: Facts, findings: Findings, losses: Sequence[Loss]) -> Broken | None:
    """The earliest broken stage; None when no row applies."""
    return next((broken for row in ROWS if (broken := row(facts, findings, losses)) is not None), None)


def _access(facts: Facts, findings: Findings, losses: Sequence[Loss]) -> Broken | None:  # noqa: ARG001
    leaks = findings.get("scope_leak", ())
    places = {leak.stage for leak in leaks}
    if places - {"context", "generations.context", "citations"}:
        return Broken("access", "foreign_retrieved")
    if places - {"citations"}:
        return Broken("access", "foreign_in_context")
    known = facts.labels.known
    return Broken("access", "foreign_cited") if any(each in known for leak in leaks for each in leak.ids) else None


def _error(facts: Facts, findings: Findings, losses: Sequence[Loss]) -> Broken | None:  # noqa: ARG001
    return Broken("error", facts.path.error or "unknown") if "run_failed" in findings else None


def _evidence(facts: Facts, findings: Findings, losses: Sequence[Loss]) -> Broken | None:  # noqa: ARG001
    """Retrieval, rerank, filter, permission and context, the earliest loss of any fact."""
    on_the_way = [loss for loss in losses if loss.stage != "citation"]
    first = min(on_the_way, key=lambda loss: loss.depth, default=None)
    if first is not None:
        return Broken(first.stage, first.mechanism)
    return Broken("context", "prompt_outside_retrieval") if "prompt_outside_retrieval" in findings else None


def _abstention(facts: Facts, findings: Findings, losses: Sequence[Loss]) -> Broken | None:  # noqa: ARG001
    if "should_abstain" in findings:
        return Broken("abstention", "should_have_abstained")
    if "false_abstention" in findings and all(each.covered["context"] for each in facts.coverage):
        return Broken("abstention", "false_abstention")
    return None


def _generation(facts: Facts, findings: Findings, losses: Sequence[Loss]) -> Broken | None:  # noqa: ARG001
    claims = None if facts.review is None else facts.review.claims
    if claims is None:
        return Broken("generation", "unsupported_claim") if "unsupported_claim" in findings else None
    if not facts.answered:
        return None
    if any(claim.supported_by_supplied_context is False for claim in claims):
        return Broken("generation", "unsupported_claim")
    wrong = [claim for claim in claims if claim.correct_against_current_rules is False]
    if any(_rests_on_superseded(claim, facts) for claim in wrong):
        return Broken("generation", "wrong_revision")
    misread = bool(wrong) and all(each.covered["context"] for each in facts.coverage)
    return Broken("generation", "misread") if misread else None


def _rests_on_superseded(claim: Claim, facts: Facts) -> bool:
    known = facts.labels.known
    sources = (*claim.supplied_context_ids, *(() if claim.cited_span_id is None else (claim.cited_span_id,)))
    return any(known[each].status in ("superseded", "withdrawn") for each in sources if each in known)


def _citation(facts: Facts, findings: Findings, losses: Sequence[Loss]) -> Broken | None:  # noqa: ARG001
    invalid = [each for finding in findings.get("invalid_citation", ()) for each in finding.ids]
    if invalid:
        everywhere = seen(facts.path)
        fabricated = any(each not in everywhere for each in invalid)
        return Broken("citation", "fabricated_citation" if fabricated else "invalid_citation")
    claims = () if facts.review is None or not facts.answered else facts.review.claims or ()
    doubtful = [claim for claim in claims if claim.needs_citation and claim.supported_by_attached_citation is False]
    if any(claim.cited_span_id is not None for claim in doubtful):
        return Broken("citation", "mis_cited")
    if doubtful:
        return Broken("citation", "uncited")
    if "answer_evidence_mismatch" in findings:
        return Broken("citation", "uncited" if facts.answered else "cited_without_answer")
    return None


def _routing(facts: Facts, findings: Findings, losses: Sequence[Loss]) -> Broken | None:  # noqa: ARG001
    expected, nodes = facts.labels.case.expected_route, facts.path.nodes
    if expected is None or nodes is None or follows([step.stage.name for step in nodes], expected):
        return None
    return Broken("routing", "wrong_route")


def _validation(facts: Facts, findings: Findings, losses: Sequence[Loss]) -> Broken | None:  # noqa: ARG001
    return Broken("validation", "wrong_verdict") if "wrong_verdict" in findings else None


ROWS: Final[tuple[Row, ...]] = (
    _access,
    _error,
    _evidence,
    _abstention,
    _generation,
    _citation,
    _routing,
    _validation,
)
