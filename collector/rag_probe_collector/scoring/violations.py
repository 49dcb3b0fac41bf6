"""The strict profile: eight violations, each a pure function of the facts (checklist 27 to 38).

They accumulate; none hides another. What was not captured proves nothing and accuses nobody.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import Final

from rag_probe_collector.metrics.facts import Facts
from rag_probe_collector.metrics.lineage import not_made_from, unrelated
from rag_probe_collector.register import Violation
from rag_probe_collector.scoring.finding import Finding, inferred
from rag_probe_collector.scoring.seen import prompt_places, retrieved_places


def scope_leak(facts: Facts) -> Iterator[Finding]:
    """28: anything seen, prompted or cited that is not allowed, once per place; later removal hides nothing."""
    path, allowed, parents = facts.path, facts.labels.allowed, facts.shown.parents
    cited = () if path.citations is None else path.citations.ids
    places = [*retrieved_places(path), *prompt_places(path), ("citations", cited)]
    foreign = not_made_from(chain.from_iterable([ids for _, ids in places]), allowed, parents)
    if not foreign:
        return
    leaks: dict[str, dict[str, None]] = {}
    for field, ids in places:
        leaks.setdefault(field, {}).update(dict.fromkeys([each for each in ids if each in foreign]))
    for field, ids in leaks.items():
        if ids:
            yield Finding("scope_leak", field, tuple(ids), inferred=inferred(path, field))


def prompt_outside_retrieval(facts: Facts) -> Iterator[Finding]:
    """29: a passage of the prompt that no retrieval returned and that was made from none."""
    context, retrieved = facts.shown.context, facts.shown.retrieved
    if context is None or retrieved is None:
        return
    outside = not_made_from(context, retrieved, facts.shown.parents)
    if outside:
        yield Finding(
            "prompt_outside_retrieval",
            "context",
            _in_order(facts.path.context and facts.path.context.ids, outside),
            inferred=inferred(facts.path, "context", "retrieved", "retrievals"),
        )


def invalid_citation(facts: Facts) -> Iterator[Finding]:
    """30: a citation of what the model was not given."""
    cited, context = facts.shown.cited, facts.shown.context
    if cited is None or context is None:
        return
    outside = unrelated(cited, context, facts.shown.parents)
    if outside:
        yield Finding(
            "invalid_citation",
            "citations",
            _in_order(facts.path.citations and facts.path.citations.ids, outside),
            inferred=inferred(facts.path, "citations", "context"),
        )


def answer_evidence_mismatch(facts: Facts) -> Iterator[Finding]:
    """31: an answer without citations, or citations without an answer."""
    if facts.answered is None or facts.shown.cited is None or facts.answered == bool(facts.shown.cited):
        return
    reason = "answered without a citation" if facts.answered else "cited without an answer"
    rests = inferred(facts.path, "citations") or _outcome_inferred(facts)
    yield Finding("answer_evidence_mismatch", "citations", reason=reason, inferred=rests)


def should_abstain(facts: Facts) -> Iterator[Finding]:
    """32: answered though not answerable by this caller."""
    if facts.answered and not facts.labels.case.answerable:
        yield Finding("should_abstain", "answer", inferred=_outcome_inferred(facts))


def false_abstention(facts: Facts) -> Iterator[Finding]:
    """33: silent though answerable, unless the case expects just that outcome."""
    if facts.answered is False and facts.labels.case.answerable and not silence_expected(facts):
        yield Finding("false_abstention", "answer", inferred=_outcome_inferred(facts))


def review_pending(facts: Facts) -> Iterator[Finding]:
    """34: answered, and no review counts for this answer. `score` adds why."""
    if facts.answered and facts.review is None:
        yield Finding("review_pending", "answer")


def unsupported_claim(facts: Facts) -> Iterator[Finding]:
    """37: not every claim is supported."""
    counts = None if facts.review is None else facts.review.counts
    if facts.answered and counts is not None and counts[0] != counts[1]:
        yield Finding("unsupported_claim", "answer", reason=f"{counts[0]} of {counts[1]} claims are supported")


CHECKS: Final[Mapping[Violation, Callable[[Facts], Iterator[Finding]]]] = {
    "scope_leak": scope_leak,
    "prompt_outside_retrieval": prompt_outside_retrieval,
    "invalid_citation": invalid_citation,
    "answer_evidence_mismatch": answer_evidence_mismatch,
    "should_abstain": should_abstain,
    "false_abstention": false_abstention,
    "review_pending": review_pending,
    "unsupported_claim": unsupported_claim,
}


def silence_expected(facts: Facts) -> bool:
    """Whether the outcome is the one that the case expects, and that is no answer."""
    expected, answer = facts.labels.case.expected_outcome, facts.path.answer
    return expected in ("abstained", "clarification") and answer is not None and answer.outcome == expected


def _outcome_inferred(facts: Facts) -> bool:
    """A reviewer who found claims in it has observed that it is an answer."""
    return facts.review is None and inferred(facts.path, "answer.outcome")


def _in_order(ids: tuple[str, ...] | None, chosen: frozenset[str]) -> tuple[str, ...]:
    return tuple([each for each in dict.fromkeys(ids or ()) if each in chosen])
