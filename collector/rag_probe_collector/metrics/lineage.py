"""Membership that follows parents: a compressed, summarised or re-split passage stands for what it was made from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Final, TypeAlias

from rag_probe.path import EvidencePath
from rag_probe.stages import Chunks

Parents: TypeAlias = Mapping[str, str]
"""Passage id to the id that it was made from."""

_DEEPEST: Final = 16


def parents_of(path: EvidencePath) -> Parents:
    """Every parent that any retrieval of the path names; usually there is none."""
    found: dict[str, str] = {}
    for chunks in every_chunks(path):
        if chunks.parents:
            pairs = zip(chunks.ids, chunks.parents, strict=True)
            found.update((child, parent) for child, parent in pairs if parent is not None and parent != child)
    return found


def every_chunks(path: EvidencePath) -> list[Chunks]:
    """What was retrieved, all of it: the union, each retrieval, and what each chose from."""
    found = [path.retrieved]
    for step in path.retrievals or ():
        found += (step.stage.documents, step.stage.candidates)
    return [chunks for chunks in found if chunks is not None]


def ancestors(passage: str, parents: Parents) -> list[str]:
    """What `passage` was made from, nearest first; a cycle ends it."""
    line: list[str] = []
    while (parent := parents.get(passage)) is not None and parent not in line and len(line) < _DEEPEST:
        line.append(parent)
        passage = parent
    return line


def not_made_from(passages: Iterable[str], held: AbstractSet[str], parents: Parents) -> frozenset[str]:
    """Those that neither are in `held` nor were made from one that is."""
    rest = frozenset(passages) - held
    if not rest or not parents:
        return rest
    return frozenset(each for each in rest if held.isdisjoint(ancestors(each, parents)))


def with_ancestors(passages: Iterable[str], parents: Parents) -> frozenset[str]:
    """The passages and all that they were made from: ids that these passages bear witness to."""
    found = frozenset(passages)
    return found if not parents else found.union(*(ancestors(each, parents) for each in found))


def unrelated(passages: Iterable[str], held: AbstractSet[str], parents: Parents) -> frozenset[str]:
    """Those that neither are in `held`, nor were made from one that is, nor is one that is made from them."""
    rest = not_made_from(passages, held, parents)
    return rest if not rest or not parents else rest - with_ancestors(held, parents)
