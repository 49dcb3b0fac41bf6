"""The parts of OTLP's trace messages that a path needs, declared so that the same bytes are read faster.

On the wire a protobuf map is a list of `{key = 1, value = 2}`, which is what a list of KeyValue is. Declared as
`map<string, bytes>`, attributes are looked up by name, and only the values that are wanted are ever decoded. Fields
left out here (events, trace state, other counts) are skipped. Source: opentelemetry/proto/trace/v1/trace.proto.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Protocol, cast

from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

_PACKAGE: Final = "rag_probe.otlp"


class Link(Protocol):
    """A pointer at another span."""

    trace_id: bytes
    span_id: bytes


class Status(Protocol):
    """`code` is 2 for an error."""

    code: int


class SpanMessage(Protocol):
    """One span; attribute values are encoded AnyValues."""

    trace_id: bytes
    span_id: bytes
    parent_span_id: bytes
    name: str
    start: int
    end: int
    attributes: Mapping[str, bytes]
    links: Sequence[Link]
    status: Status
    flags: int
    lost: int


class Scope(Protocol):
    """The instrumentation that made the spans."""

    name: str


class ScopeSpans(Protocol):
    """Spans of one instrumentation."""

    scope: Scope
    spans: Sequence[SpanMessage]


class ResourceMessage(Protocol):
    """Who sent the spans."""

    attributes: Mapping[str, bytes]


class ResourceSpans(Protocol):
    """Spans of one sender."""

    resource: ResourceMessage
    scope_spans: Sequence[ScopeSpans]


class Request(Protocol):
    """An ExportTraceServiceRequest, or a TracesData, which is the same on the wire."""

    resource_spans: Sequence[ResourceSpans]


_SCALARS: Final = {
    "bytes": FieldDescriptorProto.TYPE_BYTES,
    "string": FieldDescriptorProto.TYPE_STRING,
    "int32": FieldDescriptorProto.TYPE_INT32,
    "uint32": FieldDescriptorProto.TYPE_UINT32,
    "fixed32": FieldDescriptorProto.TYPE_FIXED32,
    "fixed64": FieldDescriptorProto.TYPE_FIXED64,
}

_MESSAGES: Final = {
    "Link": "1 trace_id bytes, 2 span_id bytes",
    "Status": "3 code int32",
    "Span": (
        "1 trace_id bytes, 2 span_id bytes, 4 parent_span_id bytes, 5 name string, 7 start fixed64, 8 end fixed64, "
        "9 attributes map, 10 lost uint32, 13 links Link*, 15 status Status, 16 flags fixed32"
    ),
    "Scope": "1 name string",
    "ScopeSpans": "1 scope Scope, 2 spans Span*",
    "Resource": "1 attributes map",
    "ResourceSpans": "1 resource Resource, 2 scope_spans ScopeSpans*",
    "Request": "1 resource_spans ResourceSpans*",
}
"""Number, name and type of every field; `*` is repeated."""


def _declare(message: DescriptorProto, number: str, name: str, kind: str) -> None:
    repeated = kind.endswith("*") or kind == "map"
    field = message.field.add(name=name, number=int(number))
    field.label = FieldDescriptorProto.LABEL_REPEATED if repeated else FieldDescriptorProto.LABEL_OPTIONAL
    if kind in _SCALARS:
        field.type = _SCALARS[kind]
        return
    field.type = FieldDescriptorProto.TYPE_MESSAGE
    if kind == "map":
        entry = message.nested_type.add(name=f"{name.capitalize()}Entry")
        entry.options.map_entry = True
        _declare(entry, "1", "key", "string")
        _declare(entry, "2", "value", "bytes")
        kind = f"{message.name}.{entry.name}"
    field.type_name = f".{_PACKAGE}.{kind.rstrip('*')}"


def _request_class() -> type[Message]:
    file = FileDescriptorProto(name="rag_probe/otlp.proto", package=_PACKAGE, syntax="proto3")
    for message, fields in _MESSAGES.items():
        declared = file.message_type.add(name=message)
        for field in fields.split(", "):
            _declare(declared, *field.split(" "))
    pool = DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())
    return GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.Request"))


_REQUEST: Final = _request_class()


def parse_request(body: bytes) -> Request:
    """Parse an ExportTraceServiceRequest; raises `google.protobuf.message.DecodeError`."""
    return cast(Request, _REQUEST.FromString(body))
