"""What real exporters send is what a reader gets (must show 4)."""

import base64
import gzip

import orjson
import pytest
from google.protobuf.json_format import MessageToDict
from grpc import Compression as GrpcCompression
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcExporter
from opentelemetry.exporter.otlp.proto.http import Compression as HttpCompression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpExporter
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, Status, StatusCode

from tests.rag_probe_collector.receiver.conftest import PATIENCE


@pytest.fixture(scope="module")
def recorded() -> list[ReadableSpan]:
    """Spans with everything that a span can carry."""
    memory = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(memory))
    tracer = provider.get_tracer("tests", "1")
    with tracer.start_as_current_span("invoke_workflow support", kind=SpanKind.SERVER) as root:
        root.set_attributes(
            {"text": "日本", "whole": 2**53 + 1, "share": 0.1, "flag": True, "ids": ["a", "b"], "n": [1, 2]}
        )
        with tracer.start_as_current_span("chat model", links=[]) as child:
            child.add_event("token", {"n": 1})
            child.set_status(Status(StatusCode.ERROR, "broke"))
    provider.shutdown()
    return list(memory.get_finished_spans())


def exporter_to(running, kind: str) -> SpanExporter:
    endpoint = f"http://{running.collector.http_address}/v1/traces"
    match kind:
        case "grpc":
            return GrpcExporter(endpoint=str(running.collector.grpc_address), insecure=True, timeout=PATIENCE)
        case "grpc gzip":
            address = str(running.collector.grpc_address)
            return GrpcExporter(endpoint=address, insecure=True, compression=GrpcCompression.Gzip, timeout=PATIENCE)
        case "http":
            return HttpExporter(endpoint=endpoint, timeout=PATIENCE)
        case "http gzip":
            return HttpExporter(endpoint=endpoint, compression=HttpCompression.Gzip, timeout=PATIENCE)
        case _:
            return HttpExporter(endpoint=endpoint, compression=HttpCompression.Deflate, timeout=PATIENCE)


def sent(recorded: list[ReadableSpan]) -> ExportTraceServiceRequest:
    return ExportTraceServiceRequest.FromString(encode_spans(recorded).SerializeToString())


@pytest.mark.parametrize("kind", ["grpc", "grpc gzip", "http", "http gzip", "http deflate"])
def test_a_real_exporter_is_acknowledged_and_its_spans_are_stored(running, recorded, kind):
    exporter = exporter_to(running, kind)
    assert exporter.export(recorded) is SpanExportResult.SUCCESS
    exporter.shutdown()
    assert running.spans() == list(sent(recorded).resource_spans[0].scope_spans[0].spans)


def as_json(request: ExportTraceServiceRequest) -> bytes:
    """OTLP JSON: what the protobuf library writes, with ids in hexadecimal."""
    body = MessageToDict(request)
    for each in body["resourceSpans"][0]["scopeSpans"][0]["spans"]:
        for name in {"traceId", "spanId", "parentSpanId"} & set(each):
            each[name] = base64.b64decode(each[name]).hex()
    return orjson.dumps(body)


@pytest.mark.parametrize("content_type", ["application/json", "application/json; charset=utf-8", "Application/JSON"])
@pytest.mark.parametrize("compress", [True, False])
def test_json_is_stored_as_the_same_protobuf(running, recorded, content_type, compress):
    data = as_json(sent(recorded))
    headers = {"Content_Encoding": "gzip"} if compress else {}
    answer = running.post(gzip.compress(data) if compress else data, content_type, **headers)
    assert (answer.status, answer.body, answer.headers["Content-Type"]) == (200, b"{}", "application/json")
    assert running.spans() == list(sent(recorded).resource_spans[0].scope_spans[0].spans)
