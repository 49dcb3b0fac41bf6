"""`spool:FILE.db`: what `rag-probe collect` has stored, also while it goes on storing."""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from google.protobuf.message import DecodeError

from rag_probe.protocols import Selection, Source, SourceError, SourceOptions
from rag_probe_collector.dialects import INTEREST
from rag_probe_collector.otlp.decode import SpanDecoder
from rag_probe_collector.otlp.span import Span
from rag_probe_collector.sources.traces import TraceSource
from rag_probe_collector.spool import SpoolError, SpoolReader


@dataclass(frozen=True, slots=True)
class _Spool:
    """The spool's index tells which traces a selection by id or time can mean. Open only while it is read."""

    path: Path
    decoder: SpanDecoder

    def scan(self, selection: Selection) -> Iterator[list[Span]]:
        wanted = self._wanted(selection)
        return self._decoded(None) if wanted is None else self.load(wanted)

    def load(self, traces: Collection[str]) -> Iterator[list[Span]]:
        wanted = frozenset(traces)
        for spans in self._decoded(wanted):
            yield [span for span in spans if span.trace_id in wanted]

    def _wanted(self, selection: Selection) -> Collection[str] | None:
        if selection.traces:
            return selection.traces
        if selection.since is None and selection.until is None:
            return None
        with _opened(self.path) as reader:
            return [trace.trace_id for trace in reader.traces(selection.since, selection.until)]

    def _decoded(self, traces: Collection[str] | None) -> Iterator[list[Span]]:
        with _opened(self.path) as reader:
            for body in reader.batches(trace_ids=traces):
                yield self.decoder.decode(body)


@contextmanager
def _opened(path: Path) -> Generator[SpoolReader]:
    try:
        with SpoolReader(path) as reader:
            yield reader
    except SpoolError as error:
        raise SourceError(str(error)) from None
    except DecodeError as error:
        raise SourceError(f"{path}: a stored batch is damaged ({error})") from None


def open_spool(location: str, options: SourceOptions) -> Source:  # noqa: ARG001  # the protocol's signature
    """Look whether the file can be read; raises SourceError when it is none of ours or newer than this release."""
    path = Path(location)
    with _opened(path):
        return TraceSource(_Spool(path, SpanDecoder(INTEREST)))
