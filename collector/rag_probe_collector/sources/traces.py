"""Spans of a store → evidence paths, oldest first, in bounded memory.

A first look at all spans gathers small facts: which traces there are, when they began, which belong together. If the
spans are few they are kept, and that is all. Otherwise a second look fetches them again, some thousand spans at a time,
in the order of time. So memory holds at most `KEPT` spans, or one trace (with those that it is joined to) if that is
larger, and some 300 bytes for every trace of the source.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Final, TypeAlias

from rag_probe.path import EvidencePath
from rag_probe.protocols import Selection
from rag_probe_collector.assembly.build import evidence_path
from rag_probe_collector.assembly.parts import parts_of
from rag_probe_collector.assembly.questions import Question, questions_of
from rag_probe_collector.assembly.trace import assemble
from rag_probe_collector.dialects import DIALECTS
from rag_probe_collector.otlp.span import Span
from rag_probe_collector.register.visible import visible
from rag_probe_collector.sources.index import Group, TraceIndex
from rag_probe_collector.sources.select import Found, select
from rag_probe_collector.sources.store import Store, TellsUnread

KEPT: Final = 100_000
"""Spans that are held from the first look."""
CHUNK: Final = 20_000
"""Spans that are fetched together in the second look, at least one group."""

_NAMED: Final = 5
_logger: Final = logging.getLogger("rag_probe.collector")

Spans: TypeAlias = Mapping[str, list[Span]]


@dataclass(frozen=True, slots=True)
class TraceSource:
    """A `Source` over any store of spans."""

    store: Store
    kept: int = KEPT
    chunk: int = CHUNK

    def paths(self, selection: Selection) -> Iterator[EvidencePath]:
        """The selected paths, oldest first."""
        return select(in_order(self._found(selection)), selection)

    def unread(self) -> Sequence[str]:
        """What of the store could not be read, known once the paths were."""
        return self.store.unread() if isinstance(self.store, TellsUnread) else ()

    def _found(self, selection: Selection) -> Iterator[tuple[int, list[Found]]]:
        index, spans = self._look(selection)
        groups = [group for group in index.groups() if _may_hold(group, selection)]
        empty = True
        for chunk in _chunks(groups, self.chunk) if spans is None else [groups]:
            held = spans if spans is not None else self._load(chunk)
            for group in chunk:
                found = [_found(question) for question in _questions(group.traces, held)]
                empty = empty and not found
                yield group.start, found
        if empty and groups:
            _tell_none(index)

    def _load(self, groups: Iterable[Group]) -> Spans:
        return gathered(self.store.load([trace for group in groups for trace in group.traces]))

    def _look(self, selection: Selection) -> tuple[TraceIndex, Spans | None]:
        index, held, count = TraceIndex(), dict[str, list[Span]](), 0
        for spans in self._scan(selection, index):
            index.add(spans)
            count += len(spans)
            if count <= self.kept:
                gather(spans, held)
            else:
                held.clear()
        return index, held if count <= self.kept else None

    def _scan(self, selection: Selection, index: TraceIndex) -> Iterator[list[Span]]:
        """What the selection names, and then what that points at, so that a resumed question finds its beginning."""
        yield from self.store.scan(selection)
        asked: set[str] = set()
        while missing := index.unseen_links() - asked:
            asked |= missing
            yield from self.store.load(missing)


def _tell_none(index: TraceIndex) -> None:
    """Say why nothing comes of spans: silence would look like an empty source."""
    scopes = ", ".join(visible(scope) or "(no scope)" for scope, _ in index.foreign.most_common(_NAMED))
    _logger.warning(
        "%d spans, no question among them: %d are of no dialect that is read (%s)%s",
        sum(index.counts.values()),
        index.foreign.total(),
        ", ".join(dialect.name for dialect in DIALECTS),
        f"; their scopes: {scopes}" if scopes else "",
    )


def in_order(groups: Iterable[tuple[int, list[Found]]]) -> Iterator[Found]:
    """Merge groups that come in the order of their starts: a path goes out once no later group can begin before it."""
    waiting: list[tuple[int, str, int, Found]] = []
    number = 0
    for start, found in groups:
        while waiting and waiting[0][0] < start:
            yield heappop(waiting)[-1]
        for one in found:
            number += 1
            heappush(waiting, (one[0].started_at or 0, one[0].path_id, number, one))
    while waiting:
        yield heappop(waiting)[-1]


def gathered(batches: Iterable[Iterable[Span]]) -> Spans:
    """Spans by trace."""
    held: dict[str, list[Span]] = {}
    for spans in batches:
        gather(spans, held)
    return held


def gather(spans: Iterable[Span], held: dict[str, list[Span]]) -> None:
    """Add spans to those of their traces."""
    for span in spans:
        known = held.get(span.trace_id)
        if known is None:
            held[span.trace_id] = [span]
        else:
            known.append(span)


def _questions(traces: Collection[str], held: Spans) -> list[Question]:
    return questions_of([part for trace in traces for part in parts_of(assemble(trace, held.get(trace, ())))])


def _found(question: Question) -> Found:
    top = question.parts[0].top
    return evidence_path(question), {**top.resource.attributes, **top.attributes}


def _may_hold(group: Group, selection: Selection) -> bool:
    if selection.until is not None and group.start >= selection.until:
        return False
    return not selection.traces or not set(selection.traces).isdisjoint(group.traces)


def _chunks(groups: Iterable[Group], size: int) -> Iterator[list[Group]]:
    chunk: list[Group] = []
    held = 0
    for group in groups:
        if chunk and held + group.spans > size:
            yield chunk
            chunk, held = [], 0
        chunk.append(group)
        held += group.spans
    if chunk:
        yield chunk
