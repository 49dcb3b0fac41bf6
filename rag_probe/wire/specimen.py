"""Which attributes there are and of which type, found by writing one of everything."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from types import NoneType, UnionType
from typing import Final, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from rag_probe.attributes import Attributes, Value
from rag_probe.stages import Node, Root, Stage
from rag_probe.wire import CAP, encode, encode_node, encode_root
from rag_probe.wire.columns import AT

T = TypeVar("T")

_SAMPLES: Final[Mapping[object, object]] = {str: "x", bool: True, int: 3, float: 0.5}
_NAMES: Final = {str: "string", bool: "boolean", int: "int", float: "double"}


def written() -> dict[str, str]:
    """The type of every attribute that a stage, a node or a root can write, and of the places of columns with gaps."""
    found: dict[str, str] = {}
    for attributes in (*map(encode, _stages()), encode_node(_filled(Node)), encode_root(_filled(Root), CAP)):
        found.update({name: type_of(value) for name, value in cast("Attributes", attributes).items()})
    return found


def gaps(types: Mapping[str, str]) -> frozenset[str]:
    """The columns among `types` that have a companion of places."""
    return frozenset(name for name in types if name + AT in types)


def type_of(value: Value) -> str:
    """OTLP's word for a value; `[]` for a list of it."""
    if isinstance(value, (tuple, list)):
        return f"{_NAMES[type(value[0])]}[]"
    return _NAMES[cast("type", type(value))]


def _stages() -> list[Stage]:
    return [_filled(kind) for kind in cast("tuple[type[Stage], ...]", get_args(Stage))]


def _filled(kind: type[T]) -> T:
    return cast("T", _sample(kind))


def _sample(kind: object) -> object:
    """A value of `kind` in which everything is known; of a column with gaps, the second."""
    if isinstance(kind, type) and is_dataclass(kind):
        hints = get_type_hints(kind)
        return kind(**{field.name: _sample(hints[field.name]) for field in fields(kind)})
    arguments = get_args(kind)
    match get_origin(kind):
        case None:
            return _SAMPLES[kind]
        case origin if origin is Literal:
            return arguments[0]
        case origin if origin in (Union, UnionType):
            return _sample(next(each for each in arguments if each is not NoneType))
        case _:
            return _samples(arguments)


def _samples(arguments: tuple[object, ...]) -> tuple[object, ...]:
    inner, last = arguments
    if last is not Ellipsis:
        return _sample(inner), _sample(last)
    return None if NoneType in get_args(inner) else _sample(inner), _sample(inner)
