"""What filters, permission checks and rerankers decided. None: there was no such step, or nobody recorded it."""

from __future__ import annotations

from collections.abc import Sequence

from rag_probe.path import Drop, Filtered, Permission, Ranked
from rag_probe.stages import Filtering, PermissionCheck, Rerank
from rag_probe_collector.assembly.record import Ran


def filtered(filters: Sequence[Ran[Filtering]], retrieved: Sequence[str] | None) -> Filtered | None:
    """What the last one kept, and what any of them dropped, each passage once per step.

    One inside a retrieval dropped what was never returned: behind it everything `retrieved` was kept.
    """
    if not filters:
        return None
    behind = [ran.stage.kept for ran in filters if ran.within is None]
    kept = behind[-1] if behind else filters[-1].stage.kept if retrieved is None else tuple(retrieved)
    dropped: dict[tuple[str, str | None], Drop] = {}
    for _, stage, _ in filters:
        for place, chunk_id in enumerate(stage.dropped):
            reason = stage.reasons[place] if stage.reasons else None
            dropped.setdefault((chunk_id, stage.step), Drop(chunk_id, reason, stage.step))
    return Filtered(kept=kept, dropped=tuple(dropped.values()))


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
