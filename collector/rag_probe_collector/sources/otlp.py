"""`otlp:FILE|DIR|GLOB`: what the Collector's file and S3 exporters write, or any OTLP JSON or protobuf."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from rag_probe.protocols import Selection, Source, SourceOptions
from rag_probe_collector.dialects import INTEREST
from rag_probe_collector.otlp.decode import SpanDecoder
from rag_probe_collector.otlp.files import OtlpFiles
from rag_probe_collector.otlp.span import Span
from rag_probe_collector.sources.traces import TraceSource


@dataclass(frozen=True, slots=True)
class _Files:
    """Files have no index: the first look reads all of them."""

    files: OtlpFiles

    def scan(self, selection: Selection) -> Iterator[list[Span]]:  # noqa: ARG002  # the protocol's signature
        return self.files.scan()

    def load(self, traces: Collection[str]) -> Iterator[list[Span]]:
        return self.files.load(traces)

    def unread(self) -> Sequence[str]:
        return tuple(self.files.unread)


def open_otlp(location: str, options: SourceOptions) -> Source:  # noqa: ARG001  # the protocol's signature
    """List the files; raises SourceError when there are none."""
    return TraceSource(_Files(OtlpFiles(location, SpanDecoder(INTEREST))))
