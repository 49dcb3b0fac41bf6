"""Small facts about traces: enough to know which must be looked at together, and in which order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, NamedTuple

from rag_probe import attributes as a
from rag_probe_collector.assembly.union import Union
from rag_probe_collector.otlp.span import Span

_SCOPES: Final = 100
_UNFINISHED: Final = ("interrupted", "error")


class Group(NamedTuple):
    """Traces that may hold parts of one question."""

    start: int
    """Of the earliest span; nanoseconds since the epoch."""
    traces: tuple[str, ...]
    spans: int


@dataclass(slots=True)
class TraceIndex:
    """Some 300 bytes a trace, however many spans it has."""

    starts: dict[str, int] = field(default_factory=dict[str, int])
    counts: dict[str, int] = field(default_factory=dict[str, int])
    foreign: Counter[str] = field(default_factory=Counter[str])
    """Spans that no dialect claims, by instrumentation scope; the first `_SCOPES` scopes."""
    _runs: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    _links: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    _threads: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    _unfinished: set[str] = field(default_factory=set[str])

    def add(self, spans: Iterable[Span]) -> None:
        """Note the spans, in whatever order they come."""
        starts, counts = self.starts, self.counts
        for span in spans:
            trace, start = span.trace_id, span.start
            counts[trace] = counts.get(trace, 0) + 1
            if start < starts.setdefault(trace, start):
                starts[trace] = start
            if span.attributes:
                self._note(trace, span)
            elif span.scope in self.foreign or len(self.foreign) < _SCOPES:
                self.foreign[span.scope] += 1

    def _note(self, trace: str, span: Span) -> None:
        attributes = span.attributes
        for name, known in ((a.CASE_RUN, self._runs), (a.CONVERSATION_ID, self._threads)):
            value = attributes.get(name)
            if isinstance(value, str):
                known.setdefault(value, set()).add(trace)
        if attributes.get(a.NODE_OUTCOME) in _UNFINISHED or a.PAUSED_AT in attributes:
            self._unfinished.add(trace)
        for link in span.links:
            if link.trace_id != trace:
                self._links.setdefault(trace, set()).add(link.trace_id)

    def unseen_links(self) -> set[str]:
        """Traces that are pointed at but have not been seen."""
        return {other for others in self._links.values() for other in others if other not in self.starts}

    def groups(self) -> list[Group]:
        """Groups in the order of their earliest span.

        Together are: traces of one case run; linked ones; and a trace in which a node paused or failed, or a graph
        stopped, with the next of its thread, which is the one that goes on from there, if any does. What is one
        question is decided later.
        """
        traces = sorted(self.starts, key=lambda trace: (self.starts[trace], trace))
        number = {trace: place for place, trace in enumerate(traces)}
        union = Union(len(traces))
        for members in self._runs.values():
            places = [number[trace] for trace in members]
            for place in places[1:]:
                union.join(places[0], place)
        for trace, others in self._links.items():
            for other in others & self.starts.keys():
                union.join(number[trace], number[other])
        for members in self._threads.values():
            turns = sorted(number[trace] for trace in members)
            for turn, following in pairwise(turns):
                if traces[turn] in self._unfinished:
                    union.join(turn, following)
        return [self._group([traces[place] for place in places]) for places in union.groups()]

    def _group(self, traces: list[str]) -> Group:
        return Group(self.starts[traces[0]], tuple(traces), sum(self.counts[trace] for trace in traces))
