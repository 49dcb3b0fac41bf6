"""What most of an OTLP JSON body is, attributes with plain values in OTLP's own spelling, read at a glance.

Nothing is decided here: what is not recognised, or not right, is None, and the whole look (json.py) says what it is.
"""

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias, cast

from rag_probe_collector.otlp.json_scalars import (
    OtlpJsonError,
    read_boolean,
    read_double,
    read_integer,
    read_text,
)

LEVELS: Final = 4
"""Messages inside one another that an attribute can be: itself, its value, a list, an item."""

Built: TypeAlias = dict[str, object]
"""Keyword arguments that build a message."""
_PLAIN: Final[Mapping[str, tuple[str, Callable[[object], object]]]] = {
    "stringValue": ("string_value", read_text),
    "intValue": ("int_value", lambda value: read_integer(-(2**63), 2**63, value)),
    "doubleValue": ("double_value", read_double),
    "boolValue": ("bool_value", read_boolean),
}


def usual_attribute(value: object) -> Built | None:
    """A KeyValue."""
    if type(value) is not dict or len(attribute := cast(Built, value)) != 2:
        return None
    key = attribute.get("key")
    content = usual_value(attribute.get("value"))
    return {"key": key, "value": content} if content is not None and type(key) is str else None


def usual_value(value: object) -> Built | None:
    """An AnyValue: a plain one, or a list of plain ones."""
    if type(value) is not dict or len(content := cast(Built, value)) != 1:
        return None
    text = content.get("stringValue")
    if type(text) is str:
        return {"string_value": text}
    return _listed(content["arrayValue"]) if "arrayValue" in content else _plain(content)


def _plain(content: Built) -> Built | None:
    ((kind, value),) = content.items()
    known = _PLAIN.get(kind)
    if known is None:
        return None
    try:
        return {known[0]: known[1](value)}
    except OtlpJsonError:
        return None


def _listed(value: object) -> Built | None:
    if type(value) is not dict or len(array := cast(Built, value)) != 1:
        return None
    values = array.get("values")
    if type(values) is not list:
        return None
    items: list[Built] = []
    for item in cast(list[object], values):
        if type(item) is not dict or len(content := cast(Built, item)) != 1 or (known := _plain(content)) is None:
            return None
        items.append(known)
    return {"array_value": {"values": items}}
