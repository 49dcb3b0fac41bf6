"""Batches as a busy RAG service sends them: 512 spans of about 2 kB in 24 attributes, ten to a trace."""

import random
from itertools import cycle, islice
from typing import Final

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

SPANS: Final = 512
SPANS_PER_TRACE: Final = 10
_TEMPLATES: Final = 6
_NOW: Final = 1_790_000_000_000_000_000


def batches(count: int) -> list[bytes]:
    """Return requests in protobuf, no two alike: the texts recur, ids and times never do."""
    source = random.Random(1)
    words = ["".join(source.choices("etaoinshrdlu", k=source.randint(2, 9))) for _ in range(3000)]
    passages = [" ".join(_spoken(source, words, 60)) for _ in range(400)]
    templates = [_template(source, words, passages) for _ in range(_TEMPLATES)]
    return [_renewed(template, source, at) for at, template in islice(enumerate(cycle(templates)), count)]


def _spoken(source: random.Random, words: list[str], count: int) -> list[str]:
    """Some words much more often than others."""
    return [words[int(len(words) * source.random() ** 3)] for _ in range(count)]


def _template(source: random.Random, words: list[str], passages: list[str]) -> ExportTraceServiceRequest:
    resource = {"attributes": [_attribute("service.name", "benchmark")]}
    spans = [_span(source, words, passages) for _ in range(SPANS)]
    scope_spans = [{"scope": {"name": "rag_probe.langchain"}, "spans": spans}]
    return ExportTraceServiceRequest(resource_spans=[{"resource": resource, "scope_spans": scope_spans}])


def _span(source: random.Random, words: list[str], passages: list[str]) -> Span:
    ids = [f"doc-{source.randrange(10**6)}#{index}" for index in range(12)]
    return Span(
        name="retrieval",
        kind=Span.SPAN_KIND_INTERNAL,
        attributes=[
            _attribute("gen_ai.operation.name", "retrieval"),
            _attribute("rag.step.name", "BM25Retriever"),
            _attribute("rag.question.text", " ".join(_spoken(source, words, 12))),
            _attribute("rag.prompt", " ".join(source.choices(passages, k=2))),
            _attribute("rag.answer.text", " ".join(_spoken(source, words, 30))),
            {
                "key": "rag.retrieval.ids",
                "value": {"array_value": {"values": [{"string_value": each} for each in ids]}},
            },
            *({"key": f"gen_ai.usage.{name}_tokens", "value": {"int_value": 400}} for name in ("input", "output")),
            *(_attribute(f"app.setting.{index}", source.choice(words)) for index in range(16)),
        ],
    )


def _attribute(key: str, text: str) -> dict[str, object]:
    return {"key": key, "value": {"string_value": text}}


def _renewed(template: ExportTraceServiceRequest, source: random.Random, at: int) -> bytes:
    request = ExportTraceServiceRequest()
    request.CopyFrom(template)
    for index, span in enumerate(request.resource_spans[0].scope_spans[0].spans):
        if index % SPANS_PER_TRACE == 0:
            trace_id = source.randbytes(16)
        span.trace_id, span.span_id, span.parent_span_id = trace_id, source.randbytes(8), source.randbytes(8)
        span.start_time_unix_nano = _NOW + (at * SPANS + index) * 1_000_003
        span.end_time_unix_nano = span.start_time_unix_nano + source.randrange(10**9)
    return request.SerializeToString()
