"""Spans of one trace → a forest in which parents come before children, whatever order they arrived in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rag_probe_collector.assembly.beside import as_if_alone
from rag_probe_collector.assembly.copies import distinct
from rag_probe_collector.otlp.span import Span


class Place(NamedTuple):
    """A span where it stands in its trace."""

    span: Span
    parent: int | None
    """Index of its parent in the trace."""
    depth: int
    lost: bool
    """Whether it names a parent that is not there, or that stands below it."""


@dataclass(frozen=True, slots=True)
class Trace:
    """Every span once, parents before children, siblings oldest first."""

    trace_id: str
    places: tuple[Place, ...]
    warnings: Mapping[str, str]
    """What is wrong with a span, by its id."""


def assemble(trace_id: str, spans: Iterable[Span]) -> Trace:
    """Build the forest of one trace: any order, any number of copies, cycles broken at their oldest span."""
    by_id, conflicts = distinct(map(as_if_alone, spans))
    warnings = dict.fromkeys(sorted(conflicts), "arrived with different contents; the copy that ended last is read")
    children: dict[str, list[Span]] = {}
    tops: list[Span] = []
    for span in by_id.values():
        if span.parent_id is not None and span.parent_id in by_id:
            children.setdefault(span.parent_id, []).append(span)
        else:
            tops.append(span)
    placed = _descend(tops, children)
    if len(placed) < len(by_id):
        broken = _oldest_of_cycles(by_id, {place.span.span_id for place in placed})
        warnings.update({span.span_id: "is its own ancestor; the cycle is broken here" for span in broken})
        placed = _descend(tops + broken, children)
    return Trace(trace_id, tuple(placed), warnings)


def _age(span: Span) -> tuple[int, int, str]:
    return span.start, span.end, span.span_id


def _descend(tops: list[Span], children: Mapping[str, Sequence[Span]]) -> list[Place]:
    """Depth first without recursion: a chain of 50,000 calls is legal."""
    placed: list[Place] = []
    cut = {top.span_id for top in tops}
    waiting = [(top, None, 0) for top in sorted(tops, key=_age, reverse=True)]
    while waiting:
        span, parent, depth = waiting.pop()
        here = len(placed)
        lost = parent is None and span.parent_id is not None
        placed.append(Place(span, parent, depth, lost))
        below = children.get(span.span_id)
        if below:
            kept = [child for child in below if child.span_id not in cut]
            if len(kept) > 1:
                kept.sort(key=_age, reverse=True)
            waiting += [(child, here, depth + 1) for child in kept]
    return placed


def _oldest_of_cycles(by_id: Mapping[str, Span], placed: set[str]) -> list[Span]:
    oldest: list[Span] = []
    seen = set(placed)
    for start in by_id:
        walk: dict[str, None] = {}
        step: str | None = start
        while step is not None and step not in seen and step not in walk:
            walk[step] = None
            step = by_id[step].parent_id
        if step in walk:
            ids = list(walk)
            oldest.append(min((by_id[one] for one in ids[ids.index(step) :]), key=_age))
        seen.update(walk)
    return oldest
