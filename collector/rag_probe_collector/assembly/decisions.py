"""What filters, permission checks and rerankers decided. None: there was no such step, or nobody recorded it."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import TypeAlias

from rag_probe.path import Drop, Filtered, Permission, Ranked
from rag_probe.stages import Chunks, Filtering, PermissionCheck, Rerank
from rag_probe_collector.assembly.kept import kept as kept_by
from rag_probe_collector.assembly.record import Ran

Ids: TypeAlias = tuple[str, ...]


def filtered(
    filters: Sequence[Ran[Filtering]], retrieved: Chunks | None, denied: Container[str] = frozenset()
) -> Filtered | None:
    """What they kept together, and what any of them dropped, each passage once per step.

    One inside a retrieval dropped what was never returned: behind it everything `retrieved` was kept. Of one that only
    told its drops, what is left of the last known set was kept, less what was `denied`; None where no set is known.
    """
    if not filters:
        return None
    behind = [ran.stage for ran in filters if ran.within is None]
    if behind:
        known = None if retrieved is None or retrieved.cut else [name for name in retrieved.ids if name not in denied]
        kept = kept_by(behind, _parents(retrieved), known)
    else:
        kept = filters[-1].stage.kept if retrieved is None else retrieved.ids
    dropped: dict[tuple[str, str | None], Drop] = {}
    for _, stage, _ in filters:
        for place, chunk_id in enumerate(stage.dropped):
            reason = stage.reasons[place] if stage.reasons else None
            dropped.setdefault((chunk_id, stage.step), Drop(chunk_id, reason, stage.step))
    return Filtered(kept=kept, dropped=tuple(dropped.values()))


def only_drops(filters: Sequence[Ran[Filtering]]) -> bool:
    """Whether one of them did not say what it kept."""
    return any(ran.stage.kept is None for ran in filters if ran.within is None)


def _parents(retrieved: Chunks | None) -> Mapping[str, str]:
    if retrieved is None or not retrieved.parents:
        return {}
    return {name: parent for name, parent in zip(retrieved.ids, retrieved.parents, strict=True) if parent is not None}


def permitted(checks: Sequence[Ran[PermissionCheck]]) -> tuple[Permission, ...] | None:
    """Every decision in the order in which it was taken; one that was taken twice alike counts once."""
    if not checks:
        return None
    decisions: dict[Permission, None] = {}
    for _, stage, _ in checks:
        for place, chunk_id in enumerate(stage.ids):
            reason = stage.reasons[place] if stage.reasons else None
            decisions[Permission(chunk_id, stage.decisions[place], reason, stage.policy)] = None
    return tuple(decisions)


def reranked(reranks: Sequence[Ran[Rerank]]) -> tuple[Ranked, ...] | None:
    """The order that the last reranker gave."""
    if not reranks:
        return None
    last = reranks[-1].stage
    scores = last.scores or (None,) * len(last.ids)
    return tuple(
        [Ranked(name, rank, score) for rank, (name, score) in enumerate(zip(last.ids, scores, strict=True), 1)]
    )
