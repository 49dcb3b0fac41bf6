"""The sample apps of examples/, run in this process: their spans, and the evidence paths made of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from rag_probe.path import EvidencePath
from rag_probe.policy import CapturePolicy
from rag_probe.protocols import Selection
from rag_probe_collector.dialects import INTEREST
from rag_probe_collector.otlp.decode import SpanDecoder
from rag_probe_collector.otlp.span import Span
from rag_probe_collector.sources.traces import TraceSource
from rag_probe_demo.budget import WORDS
from rag_probe_demo.models import chat_model
from rag_probe_demo.run import HANDLERS, ask

EXPERIMENT = "in-process"
KEY = b"rag-probe-demo"


def record(app: str, policy: CapturePolicy | None = None) -> list[ReadableSpan]:
    """Every question to `security` or `returns`, asked once."""
    memory = InMemorySpanExporter()
    provider = TracerProvider(resource=Resource({"service.name": f"{app}-assistant"}), shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(memory))
    handler = HANDLERS[app](tracer_provider=provider, policy=policy or CapturePolicy(digest_key=KEY), tokenizer=WORDS)
    failures = list(ask(app, EXPERIMENT, chat_model(None), handler))
    assert not failures
    return list(memory.get_finished_spans())


def paths_of(spans: Iterable[ReadableSpan]) -> dict[str, EvidencePath]:
    """By case id."""
    source = TraceSource(_Memory(SpanDecoder(INTEREST).decode(encode_spans(list(spans)).SerializeToString())))
    return {path.tags.case_id or "": path for path in source.paths(Selection())}


@dataclass(frozen=True)
class _Memory:
    spans: list[Span]

    def scan(self, selection: Selection) -> Iterator[list[Span]]:
        yield self.spans

    def load(self, traces: Collection[str]) -> Iterator[list[Span]]:
        yield [span for span in self.spans if span.trace_id in traces]
