"""What a step did to the passages that went into it. Pure: ids in, a verdict out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import filterfalse
from typing import NamedTuple

from rag_probe_langchain.run import Ids


class Change(NamedTuple):
    """What went into a step, what came out of it, and what fell."""

    before: Ids
    after: Ids
    dropped: Ids
    moved: bool
    """Whether those that stayed stand in another order."""
    late: bool
    """Whether what went in was the result of a stage inside the step."""


class Verdict(NamedTuple):
    """What a step did to one list."""

    reranked: bool
    dropped: Ids
    """What it filtered, each once."""


def changes(before: Mapping[str, Ids], after: Mapping[str, Ids], inner: Sequence[Ids]) -> list[Change]:
    """The changes a step made to its lists, by the key each stands under.

    `inner` holds what stages inside the step let through: what one of them explains is not the step's doing.
    A list that holds something new comes from elsewhere; the union of several lists is a merge; neither is a change.
    Of several lists made from one (kept and rejected), the one that stands under the old key counts, else the first.
    """
    found: dict[Ids, Change] = {}
    for key, ids in after.items():
        source = _source(before, key, ids, inner)
        if source is None or source == ids:
            continue
        if source in found and before.get(key) != source:
            continue
        moved, dropped = verdict(source, ids)
        if dropped or moved:
            found[source] = Change(source, ids, dropped, moved, late=source in inner and source not in before.values())
    return list(found.values())


def _source(before: Mapping[str, Ids], key: str, ids: Ids, inner: Sequence[Ids]) -> Ids | None:
    if ids in before.values() or (ids and ids in inner):
        return ids
    wanted = set(ids)
    for result in reversed(inner):
        if wanted <= set(result):
            return result
    same = before.get(key)
    if not ids:
        return same or (next(iter(before.values())) if len(before) == 1 and not key else None)
    if same is not None and wanted <= set(same):
        return same
    if len(before) > 1 and wanted == {name for candidate in before.values() for name in candidate}:
        return None
    covering = [candidate for candidate in before.values() if wanted <= set(candidate)]
    if covering:
        return min(reversed(covering), key=len)
    union = tuple(dict.fromkeys(name for candidate in (*before.values(), *inner) for name in candidate))
    return union if wanted < set(union) else None


def verdict(source: Ids, ids: Ids, *, rescored: bool = False, ranks: bool = False) -> Verdict:
    """What a step did that was given `source` and let `ids` through.

    Another order or other scores are a reranking, and what fell out was filtered. Of a step that `ranks`, inside a
    retrieval, what fell out of a reranking fell below: it is among the candidates, and nothing filtered it.
    """
    reranked = rescored or _is_moved(source, ids)
    return Verdict(reranked, () if reranked and ranks else fallen(source, ids))


def fallen(source: Ids, ids: Ids) -> Ids:
    """Those of `source` that are not in `ids`, each once."""
    return tuple(dict.fromkeys(filterfalse(set(ids).__contains__, source)))


def is_thinned(source: Ids, ids: Ids) -> bool:
    """Whether `ids` are some of `source`, or all, as they stood there."""
    return tuple(filter(set(ids).__contains__, source)) == ids


def _is_moved(source: Ids, ids: Ids) -> bool:
    """Whether those of `source` that are in `ids` stand in another order there.

    They do not where one of several places of a passage was left out, and the others stand as they stood.
    """
    if is_thinned(source, ids):  # the usual case, without a look at duplicates
        return False
    rest = iter(source)
    if all(name in rest for name in ids):
        return False
    kept, there = set(ids), set(source)
    stayed = filter(kept.__contains__, dict.fromkeys(source))
    return list(stayed) != list(filter(there.__contains__, dict.fromkeys(ids)))
