"""Where spans lie: the seam between a kind of storage and the assembly of traces."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Protocol, runtime_checkable

from rag_probe.protocols import Selection
from rag_probe_collector.otlp.span import Span


class Store(Protocol):
    """Spans that can be looked at twice. Both looks raise `SourceError`."""

    def scan(self, selection: Selection) -> Iterator[list[Span]]:
        """Every span of every trace that may be selected, in any order, with repetitions; others may be among them."""
        ...

    def load(self, traces: Collection[str]) -> Iterator[list[Span]]:
        """Every span of these traces, and of no other, whether `scan` has seen them or not."""
        ...


@runtime_checkable
class TellsUnread(Protocol):
    """A source or store that may have broken off: what is lost there may be what fails a case, so nothing passes."""

    def unread(self) -> Sequence[str]:
        """What could not be read, a line each, known once everything else was; empty when all was."""
        ...
