"""Values of unknown type, taken for what they can be taken for. What cannot is empty or None, and nothing raises."""

from __future__ import annotations

from collections import OrderedDict, UserDict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from operator import index
from types import MappingProxyType
from typing import Any, Final, cast

from pydantic import BaseModel

_OWN: Final = cast("tuple[type[object], ...]", (dict, list, tuple, OrderedDict, UserDict, MappingProxyType))
_READ: Final = ("__getitem__", "__iter__", "__len__", "__bool__", "get", "items", "keys", "values")
LARGEST: Final = 2**63 - 1
"""Of an OpenTelemetry integer attribute."""


@lru_cache(maxsize=512)
def is_plain(kind: type[object]) -> bool:
    """Whether a container of this type is read by the code of Python's own, so that to read it does nothing else.

    One that overrides it may be lazy, fetch what it gives, or raise: it is no container to us.
    """
    return any(
        issubclass(kind, own) and all(getattr(kind, name, None) is getattr(own, name, None) for name in _READ)
        for own in _OWN
    )


def mapping_of(value: object) -> Mapping[object, object]:
    """`value` when it is a plain mapping, the fields of a pydantic model, else nothing."""
    if type(value) is dict:  # most are, and this is asked a dozen times per model call
        return value  # pyright: ignore[reportUnknownVariableType] - any dict
    if value is None:
        return {}
    if is_plain(type(value)) and isinstance(value, Mapping):
        return cast("Mapping[object, object]", value)
    return {**value.__dict__} if isinstance(value, BaseModel) else {}


def items_of(value: object) -> Sequence[object]:
    """`value` when it is a plain list or tuple, else nothing."""
    return cast("Sequence[object]", value) if is_plain(type(value)) and isinstance(value, (list, tuple)) else ()


def count_of(value: object) -> int | None:
    """`value` as a count: an integer (of any library) or a whole float, not negative and no boolean; else None."""
    if type(value) is int:
        return value if 0 <= value <= LARGEST else None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if value is None or isinstance(value, (bool, str)):
        return None
    try:
        number = index(cast("Any", value))
    except Exception:
        return None
    return number if 0 <= number <= LARGEST else None


def first_count(values: Mapping[object, object], keys: Iterable[str]) -> int | None:
    """The first count that stands under one of `keys`."""
    return next((number for key in keys if (number := count_of(values.get(key))) is not None), None)


def sum_counts(values: Mapping[object, object], keys: Iterable[str]) -> int | None:
    """The sum of the counts under `keys`; None when there is none."""
    there = filter(values.__contains__, keys)  # a call for each that is not there would be most of the price
    numbers = [number for key in there if (number := count_of(values[key])) is not None]
    return sum(numbers) if numbers else None
