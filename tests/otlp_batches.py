"""Small OTLP requests for tests, and the spans that came out again."""

from collections import Counter
from collections.abc import Iterable

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

SECOND = 1_000_000_000


def span(number: int, *, trace: int = 1, at: int = 0, note: str = "") -> Span:
    """A span whose ids are its number and its trace's; `at` in seconds, 0 for no times at all."""
    return Span(
        trace_id=trace.to_bytes(16),
        span_id=number.to_bytes(8),
        name=f"span {number}",
        start_time_unix_nano=at * SECOND,
        end_time_unix_nano=at * SECOND + (at and SECOND // 2),
        attributes=[{"key": "note", "value": {"string_value": note}}],
    )


def payload(*spans: Span) -> bytes:
    """One request that carries these spans."""
    scopes = [{"scope": {"name": "tests"}, "spans": spans}]
    return ExportTraceServiceRequest(resource_spans=[{"scope_spans": scopes}]).SerializeToString()


def spans_in(payloads: Iterable[bytes]) -> list[Span]:
    """All spans, in order, copies included."""
    requests = map(ExportTraceServiceRequest.FromString, payloads)
    return [
        span
        for request in requests
        for resource in request.resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]


def counted(payloads: Iterable[bytes]) -> Counter[bytes]:
    """How often each span came, by its whole content."""
    return Counter(span.SerializeToString(deterministic=True) for span in spans_in(payloads))


def trace_hex(trace: int) -> str:
    """The trace id of `span(…, trace=trace)` as people write it."""
    return trace.to_bytes(16).hex()
