"""Passages that went around the filters: of a search that none of them was given anything of."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import NamedTuple

from rag_probe.stages import Filtering, Retrieval
from rag_probe_collector.assembly.record import Ran


class Around(NamedTuple):
    """What passed without having been filtered, and whether that is all that can have."""

    ids: tuple[str, ...] = ()
    decided: bool = True
    """False: of some passages nobody can tell whether they passed, or fell before a filter could see them."""


_NOTHING = Around()


def around(filters: Sequence[Ran[Filtering]], retrievals: Sequence[Ran[Retrieval]], prompts: Container[str]) -> Around:
    """Searches that came after every filter, and those of which something stood in a prompt, went around, inferred.

    Of other searches that no filter was given anything of, it cannot be decided. A filter that dropped nothing may
    have been given all: what it did not keep fell there, unless it is seen in a prompt.
    """
    behind = [ran for ran in filters if ran.within is None]
    if not behind:
        return _NOTHING
    given = {name for ran in behind for name in (*(ran.stage.kept or ()), *ran.stage.dropped)}
    says = all(ran.stage.dropped and ran.stage.kept is not None for ran in behind)
    ended = max(ran.span.end for ran in behind)
    passed: dict[str, None] = {}
    decided = True
    for ran in retrievals:
        names = _names(ran)
        if not names or not given.isdisjoint(_related(ran)):
            continue
        if 0 < ended <= ran.span.start or any(name in prompts for name in names):
            passed.update(dict.fromkeys(names))
        else:
            decided = decided and not says
    return Around(tuple(passed), decided)


def _names(ran: Ran[Retrieval]) -> tuple[str, ...]:
    documents = ran.stage.documents
    return () if ran.within is not None or documents is None else documents.ids


def _related(ran: Ran[Retrieval]) -> tuple[str, ...]:
    documents = ran.stage.documents
    parents = () if documents is None else documents.parents
    return (*_names(ran), *[name for name in parents if name is not None])
