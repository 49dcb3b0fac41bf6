"""Lists of passages put together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from rag_probe.stages import Chunks

T = TypeVar("T")


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
