"""Two instrumentations that heard one question: what ours recorded is read, the other's part is an echo of it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Final, NamedTuple

from rag_probe_collector.dialects import OWN
from rag_probe_collector.dialects.reading import Workflow

if TYPE_CHECKING:
    from rag_probe_collector.assembly.parts import Part


class _Times(NamedTuple):
    """Intervals by their start, and for each the latest end of those up to it."""

    starts: Sequence[int]
    latest: Sequence[int]


_NEVER: Final = _Times((), ())


def without_echoes(found: Sequence[Part]) -> list[Part]:
    """The parts that tell of questions of their own.

    An echo is a part with one of ours inside it, or a workflow that began beside one of ours, under the same span and
    at the same time: callbacks hear one run a hair apart, so neither need contain the other.
    """
    if all(part.dialect is found[0].dialect for part in found):
        return list(found)
    ours: dict[str, list[Part]] = {}
    for part in found:
        if part.dialect is OWN and part.top.parent_id is not None:
            ours.setdefault(part.top.parent_id, []).append(part)
    times = {parent: _times(parts) for parent, parts in ours.items()}
    return [part for part in found if part.dialect is OWN or not (part.told_again or _is_beside(part, times))]


def _times(parts: Sequence[Part]) -> _Times:
    spans = sorted([(part.top.start, part.top.end) for part in parts])
    return _Times([start for start, _ in spans], list(accumulate([end for _, end in spans], max)))


def _is_beside(part: Part, times: dict[str, _Times]) -> bool:
    top = part.top
    if not isinstance(part.dialect.read(top), Workflow):
        return False
    starts, latest = times.get(top.parent_id or "", _NEVER)
    begun = bisect_right(starts, top.end)
    return begun > 0 and latest[begun - 1] >= top.start
