"""`spool:FILE.db`: what `rag-probe collect` has stored, also while it goes on storing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
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
    """The spool's index tells which traces a selection by id or time can mean."""

    path: Path
    reader: SpoolReader
    decoder: SpanDecoder

    def scan(self, selection: Selection) -> Iterator[list[Span]]:
        wanted = self._wanted(selection)
        return self._decode(self.reader.batches()) if wanted is None else self.load(wanted)

    def load(self, traces: Collection[str]) -> Iterator[list[Span]]:
        wanted = frozenset(traces)
        for spans in self._decode(self.reader.batches(trace_ids=wanted)):
            yield [span for span in spans if span.trace_id in wanted]

    def _wanted(self, selection: Selection) -> Collection[str] | None:
        if selection.traces:
            return selection.traces
        if selection.since is None and selection.until is None:
            return None
        return [trace.trace_id for trace in self.reader.traces(selection.since, selection.until)]

    def _decode(self, bodies: Iterable[bytes]) -> Iterator[list[Span]]:
        try:
            for body in bodies:
                yield self.decoder.decode(body)
        except (SpoolError, DecodeError) as error:
            raise SourceError(f"{self.path}: {error}" if isinstance(error, DecodeError) else str(error)) from None


def open_spool(location: str, options: SourceOptions) -> Source:  # noqa: ARG001  # the protocol's signature
    """Open the file for reading; raises SourceError when it is none of ours or newer than this release."""
    path = Path(location)
    try:
        return TraceSource(_Spool(path, SpoolReader(path), SpanDecoder(INTEREST)))
    except SpoolError as error:
        raise SourceError(str(error)) from None
