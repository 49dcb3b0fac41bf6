"""Columns with gaps as arrays without nulls: exporters turn a null into 0 or "", so the gaps get an index array.

`scores = (0.5, None, 0.7)` becomes `scores = (0.5, 0.7)` and `scores_at = (0, 2)`.
Readers trust nothing: a value of the wrong kind, or of a length that does not fit, is not captured.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from rag_probe.attributes import Attributes, Value

T = TypeVar("T", str, int, float, bool)
AT = "_at"


def put_column(out: dict[str, Value], name: str, values: Sequence[T | None], cap: int | None = None) -> None:
    """Write the first `cap` of `values`, and where they belong when some are None; an empty column is not written."""
    column = values if cap is None or len(values) <= cap else values[:cap]
    if not column:
        return
    if None not in column:
        out[name] = column  # type: ignore[assignment]  # None was just excluded
        return
    known = [(place, value) for place, value in enumerate(column) if value is not None]
    if known:
        out[name] = tuple(value for _, value in known)  # type: ignore[assignment]
        out[name + AT] = tuple(place for place, _ in known)


def put_count(out: dict[str, Value], name: str, length: int, count: int | None, cap: int | None) -> None:
    """Write how many there were, when the array alone does not tell: it is cut, or empty (some backends drop those)."""
    total = length if count is None else count
    if not length or total > length or (cap is not None and length > cap):
        out[name] = total


def get_list(attributes: Attributes, name: str, kind: type[T]) -> tuple[T, ...] | None:
    """The array under `name`; None when it is absent or holds anything but `kind`."""
    value = attributes.get(name)
    if not isinstance(value, (list, tuple)):
        return None
    items: tuple[object, ...] = tuple(value)
    if kind is float:
        numbers = [float(item) for item in items if isinstance(item, (int, float)) and not isinstance(item, bool)]
        return tuple(numbers) if len(numbers) == len(items) else None  # type: ignore[return-value]
    return items if all(type(item) is kind for item in items) else None  # type: ignore[return-value]


def get_column(attributes: Attributes, name: str, size: int, kind: type[T]) -> tuple[T | None, ...]:
    """The inverse of `put_column` for a column of `size`; `()` when it is absent or does not fit."""
    values = get_list(attributes, name, kind)
    if not values:
        return ()
    places = get_list(attributes, name + AT, int)
    if places is None:
        return values if len(values) == size else ()
    if len(places) != len(values) or len(set(places)) != len(places) or not all(0 <= place < size for place in places):
        return ()
    column: list[T | None] = [None] * size
    for place, value in zip(places, values, strict=True):
        column[place] = value
    return tuple(column)


def get_ids(attributes: Attributes, name: str, count_name: str) -> tuple[str, ...] | None:
    """The ids under `name`; `()` when the count says that there were none; None when nothing was captured."""
    ids = get_list(attributes, name, str)
    if ids is None and get(attributes, count_name, int) == 0:
        return ()
    return ids


def get_count(attributes: Attributes, name: str, length: int) -> int | None:
    """The true count when it exceeds `length`; else None."""
    count = get(attributes, name, int)
    return count if count is not None and count > length else None


def get(attributes: Attributes, name: str, kind: type[T]) -> T | None:
    """The value under `name` when it is of `kind` (an int counts as a float), else None."""
    value = attributes.get(name)
    if kind is float and type(value) is int:
        return float(value)  # type: ignore[return-value]
    return value if type(value) is kind else None  # type: ignore[return-value]


def put(out: dict[str, Value], name: str, value: T | None) -> None:
    """Write a value that is known."""
    if value is not None:
        out[name] = value
