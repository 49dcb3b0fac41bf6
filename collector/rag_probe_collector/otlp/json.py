"""OTLP JSON → protobuf, once, at the door.

Source: https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding (lowerCamelCase, hex ids, integer enums, 64-bit
integers as strings or numbers, unknown fields ignored). Also understood, since real senders and backends write them:
snake_case, enum names, base64 ids (Tempo), `batches` for `resourceSpans`, and `instrumentationLibrarySpans` for
`scopeSpans`.
"""

import base64
import binascii
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Final, cast

import orjson
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.descriptor_pb2 import DescriptorProto
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans

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
_DECIMAL: Final = re.compile(r"-?[0-9]{1,20}", re.ASCII)
_INTEGER_BOUNDS: Final = {
    FieldDescriptor.CPPTYPE_INT32: (-(2**31), 2**31),
    FieldDescriptor.CPPTYPE_INT64: (-(2**63), 2**63),
    FieldDescriptor.CPPTYPE_UINT32: (0, 2**32),
    FieldDescriptor.CPPTYPE_UINT64: (0, 2**64),
}


class OtlpJsonError(ValueError):
    """The body is no OTLP JSON. The message names the field by its path and says what was expected there."""

    def __init__(self, expected: str) -> None:
        super().__init__(expected)
        self._expected = expected
        self._path: list[str] = []

    def within(self, step: str) -> "OtlpJsonError":
        """Return this error seen from one level further out; `step` is `.name` or `[index]`."""
        self._path.append(step)
        return self

    def __str__(self) -> str:
        place = "".join(reversed(self._path)).lstrip(".") or "the body"
        return f"{place}: expected {self._expected}"


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
    arguments = _message(ExportTraceServiceRequest.DESCRIPTOR, parsed, 0)
    return ExportTraceServiceRequest(
        resource_spans=cast(Iterable[ResourceSpans] | None, arguments.get("resource_spans"))
    )


def _message(descriptor: Descriptor, value: object, depth: int) -> dict[str, object]:
    """Return the keyword arguments that build `descriptor`'s message."""
    if depth > MAX_DEPTH:
        raise OtlpJsonError(f"at most {MAX_DEPTH} messages inside one another")
    if not isinstance(value, dict):
        raise OtlpJsonError("an object")
    fields, repeated = _fields(descriptor)
    arguments: dict[str, object] = {}
    for name, item in cast(dict[str, object], value).items():
        field = fields.get(name)
        if field is None or item is None:
            continue
        try:
            if name in repeated:
                earlier = cast(list[object], arguments.setdefault(field.name, []))
                earlier += _repeated(field, item, depth)
            else:
                arguments[field.name] = _single(field, item, depth)
        except OtlpJsonError as error:
            raise error.within(f".{name}") from None
    return arguments


def _repeated(field: FieldDescriptor, value: object, depth: int) -> list[object]:
    if not isinstance(value, list):
        raise OtlpJsonError("an array")
    items: list[object] = []
    for item in cast(list[object], value):
        try:
            items.append(_single(field, item, depth))
        except OtlpJsonError as error:
            raise error.within(f"[{len(items)}]") from None
    return items


def _single(field: FieldDescriptor, value: object, depth: int) -> object:
    if field.type == FieldDescriptor.TYPE_MESSAGE:
        return _message(cast(Descriptor, field.message_type), value, depth + 1)
    if field.type == FieldDescriptor.TYPE_ENUM:
        return _enum(field, value)
    if field.cpp_type in _INTEGER_BOUNDS:
        return _integer(*_INTEGER_BOUNDS[field.cpp_type], value)
    if field.name in _ID_SIZES:
        return _identifier(_ID_SIZES[field.name], value)
    return _SCALARS[field.type](value)


@cache
def _fields(descriptor: Descriptor) -> tuple[Mapping[str, FieldDescriptor], frozenset[str]]:
    """Every name by which a field of this message may be called, and which of these names are lists."""
    names = {name: field for field in descriptor.fields for name in (field.json_name, field.name)}
    older = {old: names[new] for old, new in _OLDER_NAMES.items() if new in names}
    declared = DescriptorProto()
    descriptor.CopyToProto(declared)
    lists = {field.name for field in declared.field if field.label == field.LABEL_REPEATED}
    fields = {**older, **names}
    return fields, frozenset(name for name, field in fields.items() if field.name in lists)


def _enum(field: FieldDescriptor, value: object) -> int:
    if not isinstance(value, str) or _DECIMAL.fullmatch(value):
        return _integer(-(2**31), 2**31, value)
    named = field.enum_type.values_by_name.get(value) if field.enum_type else None
    if named is None:
        raise OtlpJsonError("a number or one of the enum's names")
    return named.number


def _integer(lowest: int, beyond: int, value: object) -> int:
    if (isinstance(value, float) and value.is_integer()) or (isinstance(value, str) and _DECIMAL.fullmatch(value)):
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or not lowest <= value < beyond:
        raise OtlpJsonError(f"an integer from {lowest} to {beyond - 1}, as a number or a string")
    return value


def _identifier(size: int, value: object) -> bytes:
    """Hex as OTLP has it, in any case; base64, which no hex id can be mistaken for by its length, as Tempo has it."""
    if isinstance(value, str):
        try:
            if len(value.rstrip("=")) == (size * 8 + 5) // 6:
                return _base64(value)
            return binascii.unhexlify(value)
        except ValueError:
            pass
    raise OtlpJsonError(f"{2 * size} hexadecimal digits")


def _base64(value: str) -> bytes:
    standard = value.rstrip("=").translate({ord("-"): "+", ord("_"): "/"})
    return base64.b64decode(standard + "=" * (-len(standard) % 4), validate=True)


def _bytes(value: object) -> bytes:
    if isinstance(value, str):
        try:
            return _base64(value)
        except ValueError:
            pass
    raise OtlpJsonError("base64")


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    raise OtlpJsonError("a string")


def _boolean(value: object) -> bool:
    if isinstance(value, bool):
        return value
    raise OtlpJsonError("true or false")


def _double(value: object) -> float:
    if isinstance(value, int | float | str) and not isinstance(value, bool):
        try:
            return float(value)
        except (ValueError, OverflowError):
            pass
    raise OtlpJsonError("a number")


_SCALARS: Final[Mapping[int, Callable[[object], object]]] = {
    FieldDescriptor.TYPE_STRING: _text,
    FieldDescriptor.TYPE_BYTES: _bytes,
    FieldDescriptor.TYPE_BOOL: _boolean,
    FieldDescriptor.TYPE_DOUBLE: _double,
}
