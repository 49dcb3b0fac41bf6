"""What is compared: our handler, the limit, and the official handler, all writing to one provider."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.callbacks import BaseCallbackHandler
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from rag_probe.policy import CapturePolicy
from rag_probe_langgraph import RagProbeGraphHandler
from tests.benchmarks.limit import Count, Least


class _Discard(SpanExporter):
    """So that what is measured is the writing of spans, not a network."""

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        return SpanExportResult.SUCCESS


def recorded(app: Callable[[list[Any]], object], *, content: bool = False) -> tuple[ReadableSpan, ...]:
    """The spans that one request leaves."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    app([RagProbeGraphHandler(tracer_provider=provider, policy=CapturePolicy(content=content))])
    return exporter.get_finished_spans()


def new_provider() -> TracerProvider:
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(_Discard()))
    return provider


def official(provider: TracerProvider) -> BaseCallbackHandler | None:
    """The handler of opentelemetry-instrumentation-genai-langchain alone, without its instrumentor; None without it."""
    try:
        from opentelemetry.instrumentation.genai.langchain import callback_handler
        from opentelemetry.util.genai.handler import TelemetryHandler
    except ImportError:
        return None
    return callback_handler.OpenTelemetryLangChainCallbackHandler(TelemetryHandler(tracer_provider=provider))


def variants(app: Callable[[list[Any]], object], provider: TracerProvider) -> dict[str, BaseCallbackHandler | None]:
    """What is compared, by name."""
    counter = Count()
    app([counter])
    found: dict[str, BaseCallbackHandler | None] = {
        "nothing": None,
        "ours": RagProbeGraphHandler(tracer_provider=provider, policy=CapturePolicy()),
        "least": Least(provider, recorded(app), counter.heard),
    }
    theirs = official(provider)
    return {**found, "official": theirs} if theirs is not None else found
