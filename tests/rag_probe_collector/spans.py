"""Spans as a handler would write them, as OTLP messages, and back through the whole of the reading side."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue

from rag_probe import attributes as a
from rag_probe.path import EvidencePath
from rag_probe.protocols import Selection
from rag_probe.stages import Node, Root, Stage
from rag_probe.wire import encode, encode_node, encode_root
from rag_probe_collector.dialects import INTEREST
from rag_probe_collector.otlp.decode import SpanDecoder
from rag_probe_collector.otlp.span import Span
from rag_probe_collector.sources.traces import TraceSource

OURS = "rag_probe.langchain"
T0 = 1_790_000_000_000_000_000
MS = 1_000_000
LOCAL, REMOTE, UNKNOWN = 0x100, 0x300, 0


@dataclass(frozen=True)
class S:
    """A span to be sent. Small numbers stand for ids; times are milliseconds after T0."""

    id: int
    parent: int | None = None
    at: float = 0
    took: float = 1
    attributes: Mapping[str, object] = field(default_factory=dict)
    trace: int = 1
    name: str = "step"
    scope: str = OURS
    links: Sequence[tuple[int, int]] = ()
    error: str | None = None
    flags: int = UNKNOWN
    service: str = "rag-app"
    start: int | None = None
    end: int | None = None


def stage(span_id: int, content: Stage, parent: int | None = None, at: float = 0, **more) -> S:
    extra = more.pop("attributes", {})
    return S(span_id, parent, at, attributes={**encode(content), **extra}, **more)


def workflow(span_id: int, root: Root = Root(), parent: int | None = None, at: float = 0, **more) -> S:  # noqa: B008
    extra = more.pop("attributes", {})
    attributes = {a.OPERATION: "invoke_workflow", **encode_root(root, 200), **extra}
    return S(span_id, parent, at, attributes=attributes, **{"took": 100, **more})


def node(span_id: int, content: Node, parent: int | None = None, at: float = 0, **more) -> S:
    return S(span_id, parent, at, attributes=encode_node(content), **{"scope": "rag_probe.langgraph", **more})


def foreign(span_id: int, parent: int | None = None, at: float = 0, **more) -> S:
    """What an HTTP or database instrumentation writes."""
    attributes = {"http.request.method": "POST", "url.path": "/ask"}
    return S(span_id, parent, at, attributes=attributes, **{"scope": "opentelemetry.instrumentation.fastapi", **more})


def value(content) -> AnyValue:
    match content:
        case bool():
            return AnyValue(bool_value=content)
        case int():
            return AnyValue(int_value=content)
        case float():
            return AnyValue(double_value=content)
        case str():
            return AnyValue(string_value=content)
        case bytes():
            return AnyValue(bytes_value=content)
        case _:
            out = AnyValue()
            out.array_value.SetInParent()
            out.array_value.values.extend(value(item) for item in content)
            return out


def key_values(attributes: Mapping[str, object]) -> list[KeyValue]:
    return [KeyValue(key=name, value=value(content)) for name, content in attributes.items()]


def trace_id(number: int) -> str:
    return f"{number:032x}"


def span_id(number: int) -> str:
    return f"{number:016x}"


def request(*spans: S) -> ExportTraceServiceRequest:
    """One message: spans in this order, grouped where neighbours share service and scope."""
    out = ExportTraceServiceRequest()
    for service, by_service in groupby(spans, key=lambda one: one.service):
        sender = out.resource_spans.add()
        sender.resource.attributes.extend(key_values({"service.name": service}))
        for scope, group in groupby(by_service, key=lambda one: one.scope):
            held = sender.scope_spans.add()
            held.scope.name = scope
            for one in group:
                _fill(held.spans.add(), one)
    return out


def _fill(message, one: S) -> None:
    message.trace_id = one.trace.to_bytes(16)
    message.span_id = one.id.to_bytes(8)
    if one.parent is not None:
        message.parent_span_id = one.parent.to_bytes(8)
    message.name = one.name
    message.start_time_unix_nano = T0 + int(one.at * MS) if one.start is None else one.start
    message.end_time_unix_nano = T0 + int((one.at + one.took) * MS) if one.end is None else one.end
    message.flags = one.flags
    attributes = {**one.attributes, a.ERROR_TYPE: one.error} if one.error else one.attributes
    message.attributes.extend(key_values(attributes))
    message.status.code = 2 if one.error else 0
    for trace, span in one.links:
        message.links.add(trace_id=trace.to_bytes(16), span_id=span.to_bytes(8))


@dataclass
class Memory:
    """A store of messages."""

    bodies: Sequence[bytes]

    def scan(self, selection: Selection) -> Iterator[list[Span]]:
        decoder = SpanDecoder(INTEREST)
        return map(decoder.decode, self.bodies)

    def load(self, traces: Collection[str]) -> Iterator[list[Span]]:
        for spans in self.scan(Selection()):
            yield [span for span in spans if span.trace_id in traces]


def source(*requests: ExportTraceServiceRequest, **more) -> TraceSource:
    return TraceSource(Memory([one.SerializeToString() for one in requests]), **more)


def paths_of(*spans: S) -> list[EvidencePath]:
    """The paths that the spans make, sent in one message."""
    return list(source(request(*spans)).paths(Selection()))


def path_of(*spans: S) -> EvidencePath:
    """The one path that they make."""
    (path,) = paths_of(*spans)
    return path
