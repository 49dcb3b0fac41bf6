"""One case, one path, no model call: what was violated, what was measured, and where it broke first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Final

from rag_probe.path import EvidencePath
from rag_probe_collector.metrics import METRICS
from rag_probe_collector.metrics.facts import Facts, observe
from rag_probe_collector.metrics.labels import Labels
from rag_probe_collector.metrics.value import Metric
from rag_probe_collector.scoring.beside import BESIDE
from rag_probe_collector.scoring.broken import first_broken
from rag_probe_collector.scoring.drafts import goodness
from rag_probe_collector.scoring.finding import Finding
from rag_probe_collector.scoring.loss import loss_of
from rag_probe_collector.scoring.reviewing import Reviews
from rag_probe_collector.scoring.scored import ScoredCase
from rag_probe_collector.scoring.violations import CHECKS, silence_expected

_NO_REVIEWS: Final = Reviews()


def score(
    labels: Labels, path: EvidencePath, reviews: Reviews | None = None, metrics: Sequence[Metric] = METRICS
) -> ScoredCase:
    """Compare. Nothing is guessed: what was not captured is named, and what rests on it stays None."""
    reviews = reviews or _NO_REVIEWS
    verdict = reviews.for_answer(labels.case.id, path)
    facts = observe(labels, path, verdict.review, goodness(labels.case.id, path, verdict.review, reviews))
    findings = tuple(_findings(facts, verdict.why))
    by_name: dict[str, list[Finding]] = {}
    for finding in findings:
        by_name.setdefault(finding.name, []).append(finding)
    requirements = tuple((each, loss_of(each, facts)) for each in facts.coverage)
    broken = first_broken(facts, by_name, [loss for _, loss in requirements if loss is not None])
    return ScoredCase(
        case=labels.case,
        path=path,
        review=verdict.review,
        answered=facts.answered,
        abstention_correct=_abstention_correct(facts, failed="run_failed" in by_name),
        findings=findings,
        broken_stage="none" if broken is None else broken.stage,
        mechanism=None if broken is None else broken.mechanism,
        requirements=requirements,
        duplicates=tuple(_duplicates(path)),
        drafts=facts.drafts,
        metrics={metric.name: metric.compute(facts) for metric in metrics},
        not_captured=() if "run_failed" in by_name else tuple(_not_captured(facts)),
    )


def _findings(facts: Facts, why_pending: str | None) -> Iterator[Finding]:
    for check in CHECKS.values():
        for finding in check(facts):
            yield finding._replace(reason=why_pending) if finding.name == "review_pending" else finding
    for look in BESIDE:
        yield from look(facts)


def _abstention_correct(facts: Facts, *, failed: bool) -> bool | None:
    """Whether it answered exactly when it should; an error is no deliberate silence."""
    if facts.answered is None:
        return None
    if not facts.answered and (failed or silence_expected(facts)):
        return not failed
    return facts.answered == facts.labels.case.answerable


def _not_captured(facts: Facts) -> Iterator[str]:
    shown = facts.shown
    for name, value in (("retrieved", shown.retrieved), ("context", shown.context), ("citations", shown.cited)):
        if value is None:
            yield name
    if facts.answered is None:
        yield "answer.outcome"


def _duplicates(path: EvidencePath) -> Iterator[tuple[str, int]]:
    """Raw occurrences less distinct passages, per stage (checklist 20)."""
    returned = [each.stage.documents.ids for each in path.retrievals or () if each.stage.documents is not None]
    if not returned and path.retrieved is not None:
        returned = [path.retrieved.ids]
    if returned:
        yield "retrieved", sum(map(len, returned)) - len(set(chain.from_iterable(returned)))
    if path.context is not None:
        yield "context", len(path.context.ids) - len(set(path.context.ids))
    if path.citations is not None:
        yield "cited", len(path.citations.ids) - len(set(path.citations.ids))
