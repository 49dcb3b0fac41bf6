"""Every place of a path where a passage was seen, in the order of the pipeline."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from rag_probe.path import EvidencePath


def retrieved_places(path: EvidencePath) -> Iterator[tuple[str, tuple[str, ...]]]:
    """(field, ids) of what was searched, ranked and judged, before the prompt."""
    for step in path.retrievals or ():
        if step.stage.candidates is not None:
            yield "candidates", step.stage.candidates.ids
        if step.stage.documents is not None:
            yield "retrieved", step.stage.documents.ids
    if path.retrieved is not None:
        yield "retrieved", path.retrieved.ids
    if path.reranked is not None:
        yield "reranked", tuple([each.id for each in path.reranked])
    if path.filtered is not None:
        yield "filtered", path.filtered.kept or ()
        yield "filtered", tuple([each.id for each in path.filtered.dropped])
    if path.permissions is not None:
        yield "permissions", tuple([each.id for each in path.permissions])


def prompt_places(path: EvidencePath) -> Iterator[tuple[str, tuple[str, ...]]]:
    """(field, ids) of every prompt: the answer's as `context`, the others' as `generations.context`."""
    if path.context is not None:
        yield "context", path.context.ids
    for place, step in enumerate(path.generations or ()):
        if step.stage.context is not None and place != path.answer_generation:
            yield "generations.context", step.stage.context.ids


def seen(path: EvidencePath) -> frozenset[str]:
    """All of them, also what was dropped on the way into the prompt."""
    dropped = () if path.context is None else path.context.dropped
    places = chain(retrieved_places(path), prompt_places(path))
    return frozenset(dropped).union(*(ids for _, ids in places))
