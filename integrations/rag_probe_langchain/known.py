"""The last known set of a question, and what the steps inside a run let through.

Each function takes the run inside which something happened, None at the root. A retrieval is one thing to what stands
around it: what its own stages did concerns that retrieval only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Final

from rag_probe_langchain.request import Request
from rag_probe_langchain.run import Ids, Inner, Known, Run

_RESULTS: Final = 64


def known_to(inside: Run | None, request: Request) -> Known:
    """The last known set as the code inside that run sees it: of the node around it, else of the question."""
    while request.has_nodes and inside is not None:
        if inside.known is not None:
            return inside.known
        inside = inside.parent
    return request.known


def enter(node: Run) -> None:
    """A node begins with what the steps before its own left, not with what those beside it do."""
    node.request.has_nodes = True
    outer = known_to(node.parent, node.request)
    last, joining = outer.began if outer.step == _step(node) else (outer.last, outer.joining)
    node.known = Known(last, joining)


def leave(node: Run) -> None:
    """What a node left; nodes of one step join theirs."""
    mine = node.known
    if mine is None or (mine.last, mine.joining) == mine.began:
        return
    outer = known_to(node.parent, node.request)
    if outer.step == _step(node):
        outer.last = union([outer.last or (), mine.last or ()])
        outer.joining = outer.joining and mine.joining
    else:
        outer.began = (outer.last, outer.joining)
        outer.last, outer.joining, outer.step = mine.last, mine.joining, _step(node)


def _step(node: Run) -> object:
    return node.parent and node.parent.key, node.node and node.node.step


def found(inside: Run | None, request: Request, came: Inner) -> None:
    """A search returned passages: candidates of the retrievals around it, else they join the last known set.

    They join what the retrievals since the last stage or model call returned.
    """
    if inside is None or not (inside.is_retrieval or inside.retriever is not None):
        known = known_to(inside, request)
        known.last = union([known.last, came.ids]) if known.joining and known.last else came.ids
        known.joining = True
        return
    while inside is not None:
        if inside.is_retrieval:
            if inside.candidates is None:
                inside.candidates = []
            inside.candidates.append(came)
        came = came._replace(started=inside.started)
        inside = inside.parent


def narrowed(inside: Run | None, request: Request, ids: Ids) -> None:
    """A stage let `ids` through, or a step was given just these."""
    if inside is None or not (inside.is_retrieval or inside.retriever is not None):
        known = known_to(inside, request)
        known.last = ids
        known.joining = False


def passed(inside: Run | None, request: Request, after: Ids, before: Ids | None = None) -> None:
    """Tell the runs around a stage what it made of `before`, so that they do not take it for their own doing."""
    touched = request.touched
    while inside is not None:
        results = inside.results
        if results is None:
            inside.results = [after]
        elif results[-1] == before:
            results[-1] = after
        else:
            if before in results:
                results.remove(before)
            if len(results) < _RESULTS:
                results.append(after)
        inside.inner_end = touched
        inside = None if inside.is_retrieval else inside.parent


def at_hand(inside: Run, request: Request) -> Ids:
    """What the last search or stage let through, as the code inside that run sees it."""
    if not is_within_retrieval(inside):
        return known_to(inside, request).last or ()
    while not (inside.is_retrieval or inside.parent is None):
        inside = inside.parent
    return union(inside.results or ())


def is_within_retrieval(inside: Run | None) -> bool:
    """Whether what happens inside this run is a retrieval's own business."""
    return inside is not None and (inside.retriever is not None or inside.is_retrieval)


def union(sets: Iterable[Ids]) -> Ids:
    """All ids in first-seen order."""
    return tuple(dict.fromkeys(chain.from_iterable(sets)))


def minimal(sets: Sequence[Ids]) -> Ids:
    """The union of `sets` without those that contain another: a state holds what was retrieved beside what was kept."""
    if len(sets) == 1:
        return sets[0]
    left = [ids for ids in sets if not any(set(other) < set(ids) for other in sets)]
    return left[0] if len(left) == 1 else union(left)
