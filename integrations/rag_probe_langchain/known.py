"""The last known set of a question, and what the steps inside a run let through."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from rag_probe_langchain.request import Request
from rag_probe_langchain.run import Ids, Run

_RESULTS: Final = 64


def arrived(request: Request, ids: Ids) -> None:
    """A retrieval returned `ids`: it joins the retrievals since the last stage or model call."""
    request.last = union([request.last, ids]) if request.joining and request.last else ids
    request.joining = True


def narrowed(request: Request, ids: Ids) -> None:
    """A stage let `ids` through, or a step was given just these."""
    request.last = ids
    request.joining = False


def passed(run: Run, after: Ids, before: Ids | None = None) -> None:
    """Tell the runs around `run` what a stage made of `before`, so that they do not take it for their own doing."""
    outer = run.parent
    while outer is not None:
        results = outer.results
        if results is None:
            results = outer.results = []
        outer.inner_end = run.request.touched
        if before in results:
            results.remove(before)
        if len(results) < _RESULTS:
            results.append(after)
        outer = outer.parent


def union(sets: Iterable[Ids]) -> Ids:
    """All ids in first-seen order."""
    return tuple(dict.fromkeys(name for ids in sets for name in ids))


def minimal(sets: Sequence[Ids]) -> Ids:
    """The union of `sets` without those that contain another: a state holds what was retrieved beside what was kept."""
    left = [ids for ids in sets if not any(set(other) < set(ids) for other in sets)]
    return left[0] if len(left) == 1 else union(left)
