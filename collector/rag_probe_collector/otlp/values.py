"""Encoded AnyValues as Python values: primitives and arrays of primitives; all else is None.

Most attribute values are short and come again and again (ids, names, decisions), so that one look-up in a bounded memo
decodes them; it also lets a long trace hold each of them once.
"""

from __future__ import annotations

from struct import Struct
from typing import Final, TypeAlias, cast

from google.protobuf.message import DecodeError
from opentelemetry.proto.common.v1.common_pb2 import AnyValue

from rag_probe.attributes import Value

Primitive: TypeAlias = str | bool | int | float
Items: TypeAlias = tuple[str, ...] | tuple[bool, ...] | tuple[int, ...] | tuple[float, ...]
"""Of one kind where the sender kept to OTLP; `rag_probe.wire` checks it."""

MAX_ITEMS: Final = 10_000
"""Longest array that is read; a longer one is not captured."""
_MEMO_VALUES: Final = 50_000
_MEMO_BYTES: Final = 512

_STRING, _BOOL, _INT, _DOUBLE, _ARRAY = 0x0A, 0x10, 0x18, 0x21, 0x2A
"""Field number and wire type, as the first byte of an AnyValue."""
_VARINT_ENDS: Final = 0x80
_unpack_double: Final = Struct("<d").unpack_from


class Values(dict[bytes, Value | None]):
    """Look a value up by its encoding: `values[raw]`; None for what an attribute of ours cannot be."""

    def __missing__(self, raw: bytes) -> Value | None:
        value = decode_value(raw)
        if len(raw) <= _MEMO_BYTES:
            if len(self) >= _MEMO_VALUES:
                self.clear()
            self[raw] = value
        return value


def decode_value(raw: bytes) -> Value | None:
    """One AnyValue; None for an empty, nested, binary, overlong or broken one. Broken UTF-8 becomes U+FFFD."""
    if len(raw) < 2:
        return None
    kind, second = raw[0], raw[1]
    if second < _VARINT_ENDS:
        if kind == _STRING and second == len(raw) - 2:
            return raw[2:].decode("utf-8", "replace")
        if len(raw) == 2 and kind == _INT:
            return second
        if len(raw) == 2 and kind == _BOOL:
            return second != 0
    if kind == _DOUBLE and len(raw) == 9:
        return cast(float, _unpack_double(raw, 1)[0])
    if kind == _ARRAY:
        short = _short_items(raw)
        if short is not None:
            return short
    return _any_value(raw)


def _short_items(raw: bytes) -> Items | None:
    """An array whose items all have a one-byte length; None when it is anything else."""
    place = 2 if raw[1] < _VARINT_ENDS else 3
    end = raw[1] + 2 if place == 2 else (raw[1] & 0x7F) + (raw[2] << 7) + 3
    if end != len(raw) or (place == 3 and raw[2] >= _VARINT_ENDS):
        return None
    items: list[Primitive] = []
    while place < end - 1:
        size, start = raw[place + 1], place + 2
        place = start + size
        if raw[start - 2] != _STRING or place > end or not 2 <= size < _VARINT_ENDS:
            return None
        if raw[start] == _STRING and raw[start + 1] == size - 2:
            items.append(raw[start + 2 : place].decode("utf-8", "replace"))
            continue
        number = _short_number(raw, start, size)
        if number is None:
            return None
        items.append(number)
    return cast(Items, tuple(items)) if place == end else None


def _short_number(raw: bytes, start: int, size: int) -> bool | int | float | None:
    kind, second = raw[start], raw[start + 1]
    if kind == _DOUBLE and size == 9:
        return cast(float, _unpack_double(raw, start + 1)[0])
    if size == 2 and second < _VARINT_ENDS:
        return second if kind == _INT else second != 0 if kind == _BOOL else None
    return None


def _any_value(raw: bytes) -> Value | None:
    try:
        value = AnyValue.FromString(raw)
    except DecodeError:
        return None
    if value.WhichOneof("value") != "array_value":
        return _primitive(value)
    values = value.array_value.values
    if len(values) > MAX_ITEMS:
        return None
    items = [_primitive(item) for item in values]
    return None if None in items else cast(Items, tuple(items))


def _primitive(value: AnyValue) -> Primitive | None:
    match value.WhichOneof("value"):
        case "string_value":
            return value.string_value
        case "bool_value":
            return value.bool_value
        case "int_value":
            return value.int_value
        case "double_value":
            return value.double_value
        case _:
            return None
