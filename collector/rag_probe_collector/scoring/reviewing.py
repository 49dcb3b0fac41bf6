"""Which review counts for an answer; one that does not count leaves its case pending, never passed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rag_probe.path import EvidencePath
from rag_probe.stages import Content
from rag_probe_collector.register import Review
from rag_probe_collector.scoring.answer_identity import answer_digests, content_digests, evidence_version


class Verdict(NamedTuple):
    """The review that counts, or why none does."""

    review: Review | None = None
    why: str | None = None


class Reviews:
    """Reviews by case, and the key under which answers are digested."""

    def __init__(self, reviews: Iterable[Review] = (), key: bytes | None = None) -> None:
        self._key = key
        self._by_case: defaultdict[str, list[Review]] = defaultdict(list)
        for review in reviews:
            self._by_case[review.case_id].append(review)

    def cases(self) -> frozenset[str]:
        """The cases that have any."""
        return frozenset(self._by_case)

    def for_answer(self, case_id: str, path: EvidencePath) -> Verdict:
        """Of several reviewers the strictest counts."""
        found = self._by_case.get(case_id)
        if not found:
            return Verdict(why="nobody reviewed it")
        digests = answer_digests(path, self._key)
        verdicts = [_judge(review, path, digests) for review in found]
        valid = [each.review for each in verdicts if each.review is not None]
        return Verdict(min(valid, key=_share)) if valid else _nearest(verdicts)

    def is_answer(self, draft: Content, path: EvidencePath) -> bool:
        """Whether a draft is the answer, as far as their digests tell."""
        return not content_digests(draft, self._key).isdisjoint(answer_digests(path, self._key))

    def for_draft(self, case_id: str, path: EvidencePath, draft: Content) -> Review | None:
        """The review that counts for a draft that is not the answer: bound by its digest, under the same rules."""
        digests = content_digests(draft, self._key)
        bound = [review for review in self._by_case.get(case_id, ()) if review.answer_digest in digests]
        valid = [each for review in bound if (each := _judge(review, path, digests).review) is not None]
        return min(valid, key=_share, default=None)


def _judge(review: Review, path: EvidencePath, digests: frozenset[str]) -> Verdict:
    if review.experiment not in (None, path.tags.experiment):
        return Verdict(why="its review belongs to another experiment")
    by_path = review.path_id is not None and review.path_id == path.path_id
    by_digest = review.answer_digest is not None and review.answer_digest in digests
    if not by_path and not by_digest:
        return Verdict(why="its review is stale: it judged another answer")
    if by_path and review.answer_digest is not None and digests and not by_digest:
        return Verdict(why="its review is stale: the answer differs")
    if review.evidence_version is not None and review.evidence_version != evidence_version(path):
        return Verdict(why="its review is stale: the evidence differs")
    if _wrote_it(review.reviewer, path):
        return Verdict(why="its review is refused: the reviewer is the model that wrote the answer")
    return Verdict(review) if review.counts is not None else Verdict(why="a label of its review is missing")


def _wrote_it(reviewer: str, path: EvidencePath) -> bool:
    """Checklist 48: whether the reviewer names a model of this path, with or without its provider."""
    name = reviewer.strip().casefold()
    return any(
        name in _names(step.stage.provider, (step.stage.model, step.stage.response_model))
        for step in path.generations or ()
    )


def _names(provider: str | None, models: tuple[str | None, ...]) -> set[str]:
    bare = {model.casefold() for model in models if model}
    return bare | {f"{(provider or '').casefold()}{mark}{model}" for model in bare for mark in ":/"}


def _share(review: Review) -> tuple[float, bool]:
    """What is supported; of two who agree in that, whoever found a wrong claim is the stricter."""
    supported, total = review.counts or (0, 1)
    return supported / total, not any(claim.correct_against_current_rules is False for claim in review.claims or ())


def _nearest(verdicts: Sequence[Verdict]) -> Verdict:
    """The most telling reason: one about this very answer comes before one about another."""
    reasons = [each.why or "" for each in verdicts]
    return Verdict(why=min(reasons, key=lambda why: ("another" in why, why)))
