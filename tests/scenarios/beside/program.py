"""Run as a program, since instrumentors patch the process: every shape beside one other instrumentation.

`python -m tests.scenarios.beside.program PEER` prints JSON: by way of recording and by shape, facts about every span,
and the spans as OTLP.
"""

from __future__ import annotations

import json
import os
import sys
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from rag_probe_langchain import RagProbeInstrumentor
from rag_probe_langgraph import RagProbeGraphHandler, RagProbeGraphInstrumentor
from tests.rag_probe_langchain.recorded import assert_nothing_open
from tests.scenarios.beside.shapes import MAIN, SHAPES

SCOPES: Final = {
    "opentelemetry.instrumentation.genai.langchain": "official",
    "openinference.instrumentation.langchain": "openinference",
    "opentelemetry.instrumentation.langchain": "openllmetry",
}


def instrument(peer: str, provider: TracerProvider) -> None:
    match peer:
        case "official":
            from opentelemetry.instrumentation.genai.langchain import LangChainInstrumentor

            LangChainInstrumentor().instrument(tracer_provider=provider)
        case "openinference":
            from openinference.instrumentation.langchain import LangChainInstrumentor

            LangChainInstrumentor().instrument(tracer_provider=provider)
        case "openllmetry":
            from opentelemetry.instrumentation.langchain import LangchainInstrumentor

            LangchainInstrumentor().instrument(tracer_provider=provider)
        case _:
            assert peer == "none"


@contextmanager
def by_hand(provider: TracerProvider, beside: bool) -> Iterator[dict[str, Any]]:
    """Ours stands before theirs."""
    yield {"callbacks": [RagProbeGraphHandler(tracer_provider=provider, beside=beside)]}


@contextmanager
def instrumented(provider: TracerProvider, beside: bool) -> Iterator[dict[str, Any]]:
    """Ours stands after theirs, and bodies run in a current span."""
    RagProbeInstrumentor().instrument(tracer_provider=provider, beside=beside)
    RagProbeGraphInstrumentor().instrument(tracer_provider=provider, beside=beside)
    yield {}
    RagProbeGraphInstrumentor().uninstrument()
    RagProbeInstrumentor().uninstrument()


@contextmanager
def not_at_all(_provider: TracerProvider, _beside: bool) -> Iterator[dict[str, Any]]:
    yield {}


WAYS: Final = {
    "beside, instrumented before them": (True, instrumented),
    "beside": (True, by_hand),
    "beside, instrumented": (True, instrumented),
    "full": (False, by_hand),
    "full, instrumented": (False, instrumented),
    "theirs alone": (False, not_at_all),
}


def main(peer: str) -> None:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    out: dict[str, dict[str, Any]] = {}
    for way, (beside, recorded) in WAYS.items():
        if peer == "none" and way != "full":
            continue
        with recorded(provider, beside) as config:
            if not out:
                instrument(peer, provider)
            for name, shape in SHAPES.items():
                if peer == "none" or way == "beside" or name in MAIN:
                    shape(config)
                    assert_nothing_open()
                    out.setdefault(way, {})[name] = said(exporter.get_finished_spans())
                    exporter.clear()
    sys.stdout.write(json.dumps(out))


def said(spans: tuple[ReadableSpan, ...]) -> dict[str, Any]:
    return {
        "spans": [fact(span) for span in spans],
        "otlp": b64encode(encode_spans(spans).SerializeToString()).decode(),
    }


def fact(span: ReadableSpan) -> dict[str, Any]:
    """Of theirs only what stays the same from release to release."""
    scope = span.instrumentation_scope.name if span.instrumentation_scope is not None else ""
    peer = SCOPES.get(scope)
    attributes = dict(span.attributes or {})
    return {
        "id": span.context.span_id,
        "trace": span.context.trace_id,
        "parent": None if span.parent is None else span.parent.span_id,
        "name": span.name,
        "peer": peer,
        "start": span.start_time,
        "kind": span.kind.name,
        "status": span.status.status_code.name,
        "attributes": attributes if peer is None else {},
    }


if __name__ == "__main__":
    os.environ["TRACELOOP_TRACE_CONTENT"] = "false"
    main(sys.argv[1])
