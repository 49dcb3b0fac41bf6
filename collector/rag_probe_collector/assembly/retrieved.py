"""What was retrieved: every outermost retrieval by itself, and the union of what they returned (contracts 1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from rag_probe.path import Step
from rag_probe.stages import Chunks, Retrieval
from rag_probe_collector.assembly.record import Ran

T = TypeVar("T")


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


def union(lists: Sequence[Chunks]) -> Chunks:
    """Every passage once, where and as it was first seen; still marked as cut when one of the lists was."""
    if len(lists) == 1 and len(set(lists[0].ids)) == len(lists[0].ids):
        return lists[0]
    first: dict[str, tuple[Chunks, int]] = {}
    for chunks in lists:
        for place, chunk_id in enumerate(chunks.ids):
            first.setdefault(chunk_id, (chunks, place))
    missing = sum(chunks.count - len(chunks.ids) for chunks in lists if chunks.cut and chunks.count is not None)
    places = list(first.values())
    return Chunks(
        ids=tuple(first),
        scores=_column([(chunks.scores, place) for chunks, place in places]),
        documents=_column([(chunks.documents, place) for chunks, place in places]),
        revisions=_column([(chunks.revisions, place) for chunks, place in places]),
        tenants=_column([(chunks.tenants, place) for chunks, place in places]),
        id_rules=_column([(chunks.id_rules, place) for chunks, place in places]),
        parents=_column([(chunks.parents, place) for chunks, place in places]),
        texts=_column([(chunks.texts, place) for chunks, place in places]),
        count=len(first) + missing if missing else None,
    )


def _column(cells: Sequence[tuple[Sequence[T | None], int]]) -> tuple[T | None, ...]:
    column = tuple([values[place] if values else None for values, place in cells])
    return column if any(value is not None for value in column) else ()


def _with_candidates(stage: Retrieval, nested: list[Chunks] | None) -> Retrieval:
    if nested is None:
        return stage
    told = [stage.candidates] if stage.candidates is not None else []
    return replace(stage, candidates=union(told + nested))
