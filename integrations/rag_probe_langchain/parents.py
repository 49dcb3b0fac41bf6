"""Which passage another one was made from, where it comes under a name of its own: compressed, summarised, re-split.

Membership tests follow parents, so that a parent is only claimed where a step shows what it worked on.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from rag_probe.stages import Chunks
from rag_probe_langchain.documents import bare
from rag_probe_langchain.rows import rows_of
from rag_probe_langchain.run import Ids

_MOST: Final = 64
"""Passages, on either side, that are compared."""


class Source(NamedTuple):
    """Passages that something was made of, and their ids."""

    passages: Sequence[object]
    ids: Ids


class Made(NamedTuple):
    """Passages with their parents, and whether one of these is a guess."""

    chunks: Chunks
    guessed: bool = False


class _Fact(NamedTuple):
    name: str
    text: str
    metadata: Mapping[str, object]


def with_parents(
    chunks: Chunks, passages: Sequence[object], sources: Iterable[Source], unsaid: Collection[str] = ()
) -> Made:
    """Give each passage that is none of the sources its parent among them, where one is recognised.

    A piece of a source that has all of that source's metadata was cut from it. One with the very metadata of a single
    source is taken for a rewriting of it: a guess. The keys `unsaid` are left out of the comparison.
    """
    column = list(chunks.parents or (None,) * len(chunks.ids))
    kept = list(sources)
    known = {name for source in kept for name in source.ids}
    places = [place for place, name in enumerate(chunks.ids) if column[place] is None and name not in known][:_MOST]
    if not places:
        return Made(chunks)
    facts = [fact for source in kept for fact in _facts(source, unsaid)][:_MOST]
    own = _facts(Source(passages, chunks.ids), unsaid)
    guessed = False
    for place in places:
        column[place] = _cut_from(own[place], facts)
        if column[place] is None:
            column[place] = _rewritten(own[place], facts)
            guessed = guessed or column[place] is not None
    return Made(replace(chunks, parents=tuple(column)) if any(column) else chunks, guessed)


def origins(chunks: Chunks) -> Ids:
    """Each passage under the name of what it was made from, where that is known."""
    return tuple([parent or name for name, parent in zip(chunks.ids, chunks.parents or chunks.ids, strict=True)])


def _cut_from(piece: _Fact, facts: Sequence[_Fact]) -> str | None:
    if not piece.text.strip():
        return None
    found = (fact.name for fact in facts if piece.text in fact.text and _within(fact.metadata, piece.metadata))
    return next(found, None)


def _rewritten(new: _Fact, facts: Sequence[_Fact]) -> str | None:
    size = len(new.metadata)
    same = {fact.name for fact in facts if size == len(fact.metadata) and _within(fact.metadata, new.metadata)}
    return same.pop() if size and len(same) == 1 else None


def _within(some: Mapping[str, object], more: Mapping[str, object]) -> bool:
    try:
        return all(key in more and bool(more[key] == value) for key, value in some.items())
    except Exception:  # values that do not compare are not the same
        return False


def _facts(source: Source, unsaid: Collection[str]) -> list[_Fact]:
    rows = rows_of(bare(source.passages))
    return [
        _Fact(name, text, {key: value for key, value in metadata.items() if key not in unsaid})
        for name, text, metadata in zip(source.ids, rows.texts, rows.metadata, strict=False)
    ]
