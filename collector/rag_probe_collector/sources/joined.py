"""`--traces SOURCE`: the questions of a store of checkpoints, each with what its traces know of it (contracts 6)."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Final

from rag_probe.path import EvidencePath
from rag_probe.protocols import Selection, Source
from rag_probe_collector.sources.joining import join
from rag_probe_collector.sources.runs_together import together
from rag_probe_collector.sources.select import Found, attributes_of, select
from rag_probe_collector.sources.store import TellsUnread
from rag_probe_collector.sources.traced import TracedPaths

_logger: Final = logging.getLogger("rag_probe.collector")


@dataclass(frozen=True, slots=True)
class JoinedSource:
    """A `Source`: every question of the checkpoints; traces of other questions are left out, and counted."""

    checkpoints: Source
    traces: Source

    def paths(self, selection: Selection) -> Iterator[EvidencePath]:
        """The selected paths, oldest first; the traces stand in a temporary file meanwhile."""
        return select(self._found(selection), selection)

    def unread(self) -> Sequence[str]:
        """What of either could not be read."""
        both = (self.checkpoints, self.traces)
        return tuple(line for each in both if isinstance(each, TellsUnread) for line in each.unread())

    def _found(self, selection: Selection) -> Iterator[Found]:
        """A service or a trace id may come from the trace alone, so that only times select before the join."""
        early = replace(Selection(), since=selection.since, until=selection.until)
        counts = Counter[bool]()
        questions = self.checkpoints.paths(early)
        first = list(islice(questions, 1))  # what is wrong with them is said before all traces are read
        with closing(TracedPaths(self.traces.paths(Selection()))) as traced:
            for stored in chain(first, questions):
                runs = traced.of(stored)
                counts[bool(runs)] += 1
                path = join(stored, together(runs)) if runs else stored
                yield path, attributes_of(path) if selection.attributes else {}
            _tell(counts, traced.unused())


def _tell(counts: Counter[bool], unused: int) -> None:
    if counts[False] or unused:
        _logger.warning(
            "%d questions are joined with their traces, %d have no trace; %d of the traces belong to no checkpoint "
            "and are left out",
            counts[True],
            counts[False],
            unused,
        )
