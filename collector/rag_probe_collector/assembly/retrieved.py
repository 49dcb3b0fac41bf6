"""What was retrieved: every outermost retrieval by itself, and the union of what they returned (contracts 1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rag_probe.passages import union
from rag_probe.path import Step
from rag_probe.stages import Chunks, Rerank, Retrieval
from rag_probe_collector.assembly.record import Ran


def outermost(retrievals: Sequence[Ran[Retrieval]], reranks: Sequence[Ran[Rerank]]) -> tuple[Step[Retrieval], ...]:
    """Retrievals that are nested in none; what those nested in one returned are its candidates."""
    ranked = {id(ran.within): Rerank(ids=ran.stage.ids, scores=ran.stage.scores) for ran in reranks}
    nested: dict[int, list[Chunks]] = {}
    for ran in retrievals:
        if ran.within is not None and ran.stage.documents is not None:
            nested.setdefault(id(ran.within), []).append(ran.stage.documents)
    return tuple(
        [
            Step(
                replace(_with_candidates(ran.stage, nested.get(id(ran.span))), reranked=ranked.get(id(ran.span))),
                ran.span.latency_ms,
                ran.span.error,
            )
            for ran in retrievals
            if ran.within is None
        ]
    )


def returned(steps: Sequence[Step[Retrieval]], run_error: str | None) -> Chunks | None:
    """The union in first-seen order; None when nothing is known.

    One that failed gave nothing to an app that went on without it; where the app failed too, nobody knows.
    """
    known = [step.stage.documents for step in steps if step.stage.documents is not None]
    if known:
        return union(known)
    return Chunks() if run_error is None and all(step.error is not None for step in steps) else None


def _with_candidates(stage: Retrieval, nested: list[Chunks] | None) -> Retrieval:
    if nested is None:
        return stage
    told = [stage.candidates] if stage.candidates is not None else []
    return replace(stage, candidates=union(told + nested))
