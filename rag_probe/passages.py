"""Lists of passages put together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from rag_probe.stages import Chunks

T = TypeVar("T")


def union(lists: Sequence[Chunks]) -> Chunks:
    """Every passage once, where it was first seen, and as it was first described; still cut when one list was."""
    if len(lists) == 1 and len(set(lists[0].ids)) == len(lists[0].ids):
        return lists[0]
    first: dict[str, tuple[Chunks, int]] = {}
    unsaid: set[str] = set()
    for chunks in lists:
        bare = _is_bare(chunks)
        for place, chunk_id in enumerate(chunks.ids):
            if chunk_id not in first or (chunk_id in unsaid and not bare):
                first[chunk_id] = (chunks, place)
                (unsaid.add if bare else unsaid.discard)(chunk_id)
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


def _is_bare(chunks: Chunks) -> bool:
    """Whether a list says nothing but ids."""
    return chunks == Chunks(ids=chunks.ids, count=chunks.count)


def _column(cells: Sequence[tuple[Sequence[T | None], int]]) -> tuple[T | None, ...]:
    column = tuple([values[place] if values else None for values, place in cells])
    return column if any(value is not None for value in column) else ()
