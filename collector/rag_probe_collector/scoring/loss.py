"""Where a path lost a fact that it needed (contracts 6).

A group is lost where its first member is lost; a fact is lost where its longest-lived group is.
"""

from __future__ import annotations

from typing import NamedTuple

from rag_probe.path import EvidencePath
from rag_probe_collector.metrics.coverage import Coverage, right_revision, text_survives
from rag_probe_collector.metrics.facts import Facts
from rag_probe_collector.metrics.lineage import unrelated
from rag_probe_collector.register import Passage
from rag_probe_collector.scoring.sources_seen import came_in_another_revision


class Loss(NamedTuple):
    """The stage by the names of `broken_stage`; `depth` orders them."""

    depth: int
    stage: str
    mechanism: str


def loss_of(coverage: Coverage, facts: Facts) -> Loss | None:
    """The loss of one fact on its way into the prompt, or, in an answer, into the citations."""
    groups = [_first(group, facts) for group in coverage.need.groups]
    losses = [loss for loss in groups if loss is not None]
    if losses and len(losses) == len(groups):
        return max(losses, key=lambda loss: loss.depth)
    if facts.answered and coverage.covered["cited"] is False and coverage.covered["context"]:
        return Loss(4, "citation", "uncited")
    return None


def _first(group: tuple[Passage, ...], facts: Facts) -> Loss | None:
    found = [loss for passage in group if (loss := _passage(passage, facts)) is not None]
    return min(found, key=lambda loss: loss.depth) if found else None


def _passage(passage: Passage, facts: Facts) -> Loss | None:
    shown = facts.shown
    if shown.retrieved is not None:
        if _absent(passage, shown.retrieved, facts):
            return _not_returned(passage, facts)
        if not right_revision(passage, shown):
            return Loss(0, "retrieval", "wrong_revision")
    if shown.context is not None and not _absent(passage, shown.context, facts):
        survives = text_survives(passage, shown.context, shown)
        return Loss(3, "context", "span_truncated") if survives is False else None
    return _between(passage, facts)


def _not_returned(passage: Passage, facts: Facts) -> Loss:
    """A passage that no outermost retrieval returned; what judged it, if anything did, stands inside one."""
    if not _absent(passage, facts.shown.denied, facts):
        return Loss(0, "permission", "denied")
    if not _absent(passage, facts.shown.dropped, facts):
        return Loss(0, "filter", "filtered")
    for step in facts.path.retrievals or ():
        chosen_from = step.stage.candidates
        if chosen_from is not None and not _absent(passage, frozenset(chosen_from.ids), facts):
            ranking = step.stage.reranked if _reranked_inside(facts.path) else facts.path.reranked
            return Loss(0, "retrieval" if ranking is None else "rerank", "ranked_below_k")
    if came_in_another_revision(passage, facts):
        return Loss(0, "retrieval", "wrong_revision")
    return Loss(0, "retrieval", "not_retrieved")


def _between(passage: Passage, facts: Facts) -> Loss | None:
    """A passage that was returned and is not known to be in the prompt."""
    shown = facts.shown
    if not _absent(passage, shown.denied, facts):
        return Loss(2, "permission", "denied")
    if not _absent(passage, shown.dropped, facts):
        return Loss(2, "filter", "filtered")
    if _reranked_away(passage, facts):
        return Loss(1, "rerank", "ranked_below_k")
    if shown.filtered is not None and _absent(passage, shown.filtered, facts):
        return Loss(2, "filter", "filtered")
    if shown.context is None:
        return None
    return Loss(3, "context", "dropped_by_budget" if _budget_told(passage, facts) else "dropped")


def _reranked_away(passage: Passage, facts: Facts) -> bool:
    """By a reranker of what was returned: one inside a retrieval took nothing away from that."""
    path = facts.path
    if path.reranked is None or "reranked" in path.not_captured or _reranked_inside(path):
        return False
    return _absent(passage, frozenset(each.id for each in path.reranked), facts)


def _reranked_inside(path: EvidencePath) -> bool:
    """Whether the last reranking of all stood inside a retrieval."""
    if path.reranked is None:
        return False
    ids = tuple([each.id for each in path.reranked])
    return any(step.stage.reranked is not None and step.stage.reranked.ids == ids for step in path.retrievals or ())


def _budget_told(passage: Passage, facts: Facts) -> bool:
    context, budget = facts.path.context, facts.path.budget
    if budget is not None and budget.limit is not None:
        return True
    if context is None or not context.dropped_reasons:
        return False
    reasons = dict(zip(context.dropped, context.dropped_reasons, strict=True))
    return "budget" in (reasons.get(passage.id) or "")


def _absent(passage: Passage, present: frozenset[str], facts: Facts) -> bool:
    parents = facts.shown.parents
    return passage.id not in present and (not parents or bool(unrelated((passage.id,), present, parents)))
