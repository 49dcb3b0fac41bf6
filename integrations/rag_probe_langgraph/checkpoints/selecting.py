"""Selection (contracts 6) and order of paths that come thread by thread."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import heappop, heappush

from rag_probe.path import EvidencePath
from rag_probe.protocols import Selection
from rag_probe.stages import Root
from rag_probe.wire import encode_root


def in_order(threads: Iterable[tuple[int, list[EvidencePath]]]) -> Iterator[EvidencePath]:
    """Paths by their start, of threads that come by theirs: one goes out once no later thread can begin before it."""
    waiting: list[tuple[int, str, EvidencePath]] = []
    for start, paths in threads:
        while waiting and waiting[0][0] < start:
            yield heappop(waiting)[-1]
        for path in paths:
            heappush(waiting, (path.started_at or 0, path.path_id, path))
    while waiting:
        yield heappop(waiting)[-1]


def is_selected(path: EvidencePath, selection: Selection) -> bool:
    """Whether every condition that is set holds; a checkpoint names no service, and a path without a start no time."""
    start = path.started_at
    return (
        selection.service is None
        and (not selection.traces or not set(path.trace_ids).isdisjoint(selection.traces))
        and (selection.since is None or (start is not None and start >= selection.since))
        and (selection.until is None or (start is not None and start < selection.until))
        and (not selection.attributes or _has(path, selection))
    )


def _has(path: EvidencePath, selection: Selection) -> bool:
    known = encode_root(Root(tags=path.tags, identity=path.identity, thread_id=path.thread_id), cap=200)
    return all(name in known and str(known[name]) == text for name, text in selection.attributes.items())
