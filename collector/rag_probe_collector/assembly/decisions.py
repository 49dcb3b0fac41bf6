"""What filters, permission checks and rerankers decided. None: there was no such step, or nobody recorded it."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import TypeAlias

from rag_probe.path import Drop, Filtered, Permission, Ranked
from rag_probe.stages import Chunks, Filtering, PermissionCheck, Rerank
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
        kept = _kept(behind, _parents(retrieved), known)
    else:
        kept = filters[-1].stage.kept if retrieved is None else retrieved.ids
    dropped: dict[tuple[str, str | None], Drop] = {}
    for _, stage, _ in filters:
        for place, chunk_id in enumerate(stage.dropped):
            reason = stage.reasons[place] if stage.reasons else None
            dropped.setdefault((chunk_id, stage.step), Drop(chunk_id, reason, stage.step))
    return Filtered(kept=kept, dropped=tuple(dropped.values()))


def _kept(filters: Sequence[Filtering], parents: Mapping[str, str], first: Sequence[str] | None) -> Ids | None:
    """Of filters in a row what the last one kept; of those that had each its own passages, what all of them kept.

    One that was given what others had kept, or what was made of that, comes behind them, whatever else they had kept;
    given other passages too, it decides about those that it was given.
    """
    left: list[tuple[str, int]] = []
    for place, stage in enumerate(filters):
        if stage.kept is None:
            if not place and first is None:
                return None
            gone = set(stage.dropped)
            before = left if place else [(name, 0) for name in first or ()]
            left = [row for row in before if row[0] not in gone]
            continue
        keepers = dict(left)
        sources = [_source(name, keepers, parents) for name in (*stage.kept, *stage.dropped)]
        known = {name for name in sources if name is not None}
        if None in sources:
            left = [row for row in left if row[0] not in known]
        else:
            behind = {keepers[name] for name in known}
            left = [row for row in left if sources and row[1] not in behind]
        left += [(name, place) for name in stage.kept]
    return tuple([name for name, _ in left])


def _source(name: str, left: Container[str], parents: Mapping[str, str]) -> str | None:
    """The passage in `left` that this one is, or was made of."""
    seen: set[str] = set()
    at: str | None = name
    while at is not None and at not in seen:
        if at in left:
            return at
        seen.add(at)
        at = parents.get(at)
    return None


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
