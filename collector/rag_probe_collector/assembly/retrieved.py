"""What was retrieved: every outermost retrieval by itself, and the union of what they returned (contracts 1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rag_probe.passages import union
from rag_probe.path import Step
from rag_probe.stages import Chunks, Retrieval
from rag_probe_collector.assembly.record import Ran


def outermost(retrievals: Sequence[Ran[Retrieval]]) -> tuple[Step[Retrieval], ...]:
    """Retrievals that are nested in none; what those nested in one returned are its candidates."""
    nested: dict[int, list[Chunks]] = {}
    for ran in retrievals:
        if ran.within is not None and ran.stage.documents is not None:
            nested.setdefault(id(ran.within), []).append(ran.stage.documents)
    return tuple(
        [
            Step(_with_candidates(ran.stage, nested.get(id(ran.span))), ran.span.latency_ms, ran.span.error)
            for ran in retrievals
            if ran.within is None
        ]
    )


def returned(steps: Sequence[Step[Retrieval]]) -> Chunks | None:
    """The union in first-seen order; None when nothing is known. A retrieval that failed returned nothing."""
    known = [step.stage.documents for step in steps if step.stage.documents is not None]
    if known:
        return union(known)
    return Chunks() if all(step.error is not None for step in steps) else None


def _with_candidates(stage: Retrieval, nested: list[Chunks] | None) -> Retrieval:
    if nested is None:
        return stage
    told = [stage.candidates] if stage.candidates is not None else []
    return replace(stage, candidates=union(told + nested))
