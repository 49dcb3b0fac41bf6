"""OTLP JSON → protobuf, once, at the door.

Source: https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding (lowerCamelCase, hex ids, integer enums, 64-bit
integers as strings or numbers, unknown fields ignored). Also understood, since real senders and backends write them:
snake_case, enum names, base64 ids (Tempo), `batches` for `resourceSpans`, and `instrumentationLibrarySpans` for
`scopeSpans`.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Final, NamedTuple, TypeAlias, cast

import orjson
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.descriptor_pb2 import DescriptorProto
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans

from rag_probe_collector.otlp.json_scalars import (
    INTEGER_BOUNDS,
    SCALARS,
    OtlpJsonError,
    read_enum,
    read_identifier,
    read_integer,
)
from rag_probe_collector.otlp.json_usual import LEVELS, Built, usual_attribute, usual_value

MAX_DEPTH: Final = 64
"""Messages inside one another. The protobuf parser itself stops at 100, so what passes here can be read back."""

MAX_CONTAINERS: Final = 4_000_000
"""Objects and arrays of one body: 64 MiB of real spans hold fewer, 64 MiB of `{}` would take gigabytes once parsed."""

_OLDER_NAMES: Final = {
    "batches": "resource_spans",
    "instrumentationLibrarySpans": "scope_spans",
    "instrumentation_library_spans": "scope_spans",
    "instrumentationLibrary": "scope",
    "instrumentation_library": "scope",
}
_ID_SIZES: Final = {"trace_id": 16, "span_id": 8, "parent_span_id": 8}
_USUAL: Final[Mapping[str, Callable[[object], Built | None]]] = {
    KeyValue.DESCRIPTOR.full_name: usual_attribute,
    AnyValue.DESCRIPTOR.full_name: usual_value,
}


def parse_otlp_json(body: bytes) -> ExportTraceServiceRequest:
    """Return the request that `body`, one UTF-8 JSON object, stands for.

    An object with none of the known fields is an empty request. Ids of the wrong length are kept as they are, for the
    reader to reject span by span. Raises OtlpJsonError for anything that is not OTLP JSON, however deep or large.
    """
    if body.count(b"{") + body.count(b"[") > MAX_CONTAINERS:
        raise OtlpJsonError(f"at most {MAX_CONTAINERS:,} objects and arrays")
    try:
        parsed = cast(object, orjson.loads(body))
    except orjson.JSONDecodeError as error:
        raise OtlpJsonError(f"JSON ({error})") from None
    arguments = _message(_fields(ExportTraceServiceRequest.DESCRIPTOR), parsed, 0)
    return ExportTraceServiceRequest(
        resource_spans=cast(Iterable[ResourceSpans] | None, arguments.get("resource_spans"))
    )


_Reader: TypeAlias = Callable[[object, int], object]
"""A value and how many messages it stands in → what builds the field; raises OtlpJsonError."""


class _Field(NamedTuple):
    """What one name of a message's object stands for."""

    name: str
    is_list: bool
    read: _Reader
    """The value, or an item of the list."""
    usual: Callable[[object], Built | None] | None
    """Recognises most items of a list."""


def _message(fields: Mapping[str, _Field], value: object, depth: int) -> Built:
    """Return the keyword arguments that build the message of these fields."""
    if depth > MAX_DEPTH:
        raise OtlpJsonError(f"at most {MAX_DEPTH} messages inside one another")
    if not isinstance(value, dict):
        raise OtlpJsonError("an object")
    arguments: Built = {}
    for name, item in cast(dict[str, object], value).items():
        field = fields.get(name)
        if field is None or item is None:
            continue
        try:
            if field.is_list:
                earlier = cast(list[object], arguments.setdefault(field.name, []))
                earlier += _repeated(field, item, depth)
            else:
                arguments[field.name] = field.read(item, depth)
        except OtlpJsonError as error:
            raise error.within(f".{name}") from None
    return arguments


def _repeated(field: _Field, value: object, depth: int) -> list[object]:
    if not isinstance(value, list):
        raise OtlpJsonError("an array")
    usual = field.usual if depth + LEVELS <= MAX_DEPTH else None
    items: list[object] = []
    for item in cast(list[object], value):
        if usual is not None and (known := usual(item)) is not None:
            items.append(known)
            continue
        try:
            items.append(field.read(item, depth))
        except OtlpJsonError as error:
            raise error.within(f"[{len(items)}]") from None
    return items


@cache
def _fields(descriptor: Descriptor) -> Mapping[str, _Field]:
    """Every name by which a field of this message may be called."""
    names = {name: field for field in descriptor.fields for name in (field.json_name, field.name)}
    older = {old: names[new] for old, new in _OLDER_NAMES.items() if new in names}
    declared = DescriptorProto()
    descriptor.CopyToProto(declared)
    lists = {field.name for field in declared.field if field.label == field.LABEL_REPEATED}
    return {name: _field(field, field.name in lists) for name, field in {**older, **names}.items()}


def _field(field: FieldDescriptor, is_list: bool) -> _Field:
    kind = field.message_type.full_name if field.message_type is not None else ""
    return _Field(field.name, is_list, _reader(field), _USUAL.get(kind))


def _reader(field: FieldDescriptor) -> _Reader:
    """Chosen once for each field: a body holds a million values."""
    if field.type == FieldDescriptor.TYPE_MESSAGE:
        message = cast(Descriptor, field.message_type)  # its fields are looked up late: values hold values
        return lambda value, depth: _message(_fields(message), value, depth + 1)
    if field.type == FieldDescriptor.TYPE_ENUM:
        return lambda value, _: read_enum(field, value)
    if field.cpp_type in INTEGER_BOUNDS:
        lowest, beyond = INTEGER_BOUNDS[field.cpp_type]
        return lambda value, _: read_integer(lowest, beyond, value)
    if field.name in _ID_SIZES:
        size = _ID_SIZES[field.name]
        return lambda value, _: read_identifier(size, value)
    scalar = SCALARS[field.type]
    return lambda value, _: scalar(value)
