"""Columns with gaps as arrays without nulls: exporters turn a null into 0 or "", so the gaps get an index array.

`scores = (0.5, None, 0.7)` becomes `scores = (0.5, 0.7)` and `scores_at = (0, 2)`.
Writers let nothing out that an exporter chokes on, and then drops a whole batch for: a number that is not finite or
does not fit 64 bits is a gap, text is well-formed.
Readers trust nothing: a value of the wrong kind, or of a length that does not fit, is not captured.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain, compress, repeat
from math import isfinite
from operator import is_not, itemgetter
from typing import Final, TypeAlias, TypeVar

from rag_probe.attributes import Attributes, Value
from rag_probe.wellformed import well_formed

T = TypeVar("T", str, int, float, bool)
_Scalar: TypeAlias = str | int | float | bool
AT = "_at"
_SHORT: Final = 256
_INT64: Final = 2**63
Texts: TypeAlias = Sequence[str | None]
_VALUES: Final[Callable[[tuple[str, Texts]], Texts]] = itemgetter(1)


def put_column(out: dict[str, Value], name: str, values: Sequence[_Scalar | None], cap: int | None = None) -> None:
    """Write the first `cap` of `values`, and where they belong when some are None; an empty column is not written."""
    put_columns(out, cap, (name, values))


def put_columns(out: dict[str, Value], cap: int | None, *columns: tuple[str, Sequence[_Scalar | None]]) -> None:
    """`put_column` for each, in one call: most are plain, or empty."""
    for name, values in columns:
        if not values:
            continue
        column = values if cap is None or len(values) <= cap else values[:cap]
        if _is_plain(column):
            out[name] = column  # type: ignore[assignment]  # no None in it
        else:
            _put_sendable(out, name, column)


def put_texts(out: dict[str, Value], cap: int, names: Iterable[str], columns: Iterable[Texts]) -> None:
    """`put_columns` of ids and other short words: all are looked at together, and mostly are as they may be sent."""
    filled = dict(filter(_VALUES, zip(names, columns, strict=True)))
    if filled and max(map(len, filled.values())) <= cap and are_short([*chain.from_iterable(filled.values())]):
        out.update(filled)  # type: ignore[arg-type]  # no None in them
    else:
        put_columns(out, cap, *filled.items())


def put_count(out: dict[str, Value], name: str, length: int, count: int | None, cap: int | None) -> None:
    """Write how many there were, when the array alone does not tell: it is cut, or empty (some backends drop those)."""
    total = length if count is None else count
    if not length or total > length or (cap is not None and length > cap):
        out[name] = total


def put(out: dict[str, Value], name: str, value: T | None) -> None:
    """Write a value that is known."""
    if value is not None and (sendable := _sendable(value)) is not None:
        out[name] = sendable


def put_known(out: dict[str, Value], *values: tuple[str, _Scalar | None]) -> None:
    """`put` for each that is known: most are not, and a call for each of those is most of the price."""
    for name, value in values:
        if value is None:
            continue
        kind = type(value)
        # The usual kinds without a call: this runs for every attribute of every span.
        if (
            (kind is str and value.isascii())  # type: ignore[union-attr]
            or kind is bool
            or (kind is int and -_INT64 <= value < _INT64)  # type: ignore[operator]
        ):
            out[name] = value
        elif (sendable := _sendable(value)) is not None:
            out[name] = sendable


def put_fields(out: dict[str, Value], names: Sequence[str], values: Sequence[_Scalar | None]) -> None:
    """The same for many fields, few of them known: the others are passed over in C."""
    put_known(out, *compress(zip(names, values, strict=True), map(is_not, values, repeat(None))))


def put_counts(out: dict[str, Value], names: Sequence[str], values: Sequence[int | None]) -> None:
    """The same for whole numbers only, which are looked at together."""
    known = dict(compress(zip(names, values, strict=True), map(is_not, values, repeat(None))))
    if are_counts(known.values()):
        out.update(known)  # type: ignore[arg-type]  # no None in them
    else:
        put_known(out, *known.items())


def get_list(attributes: Attributes, name: str, kind: type[T]) -> tuple[T, ...] | None:
    """The array under `name`; None when it is absent or holds anything but `kind` (an int counts as a float)."""
    value = attributes.get(name)
    if value is None or not isinstance(value, (tuple, list)):
        return None
    if kind is str and _is_short_text(value):
        return tuple(value)  # type: ignore[arg-type]  # just checked
    kinds: set[type] = set(map(type, value))
    if not kinds or kinds == {kind}:
        return tuple(value)  # type: ignore[arg-type]  # just checked
    if kind is float and kinds <= {float, int}:
        return _floats(value)  # type: ignore[return-value,arg-type]
    return None


def get_column(attributes: Attributes, name: str, size: int, kind: type[T]) -> tuple[T | None, ...]:
    """The inverse of `put_column` for a column of `size`; `()` when it is absent or does not fit."""
    if name not in attributes:
        return ()
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
    if type(value) is kind:
        return value  # type: ignore[return-value]
    if kind is float and type(value) is int:
        numbers = _floats((value,))
        return numbers[0] if numbers else None  # type: ignore[return-value]
    return None


def _put_sendable(out: dict[str, Value], name: str, column: Sequence[_Scalar | None]) -> None:
    sendable = [(place, item) for place, value in enumerate(column) if (item := _sendable(value)) is not None]
    if sendable:
        out[name] = tuple(item for _, item in sendable)  # type: ignore[assignment]
        if len(sendable) < len(column):
            out[name + AT] = tuple(place for place, _ in sendable)


def _is_plain(column: Sequence[object]) -> bool:
    """Whether it can be sent as it is; one pass in C for the common kinds. False only means: look closer."""
    first = column[0]
    try:
        if isinstance(first, str):
            return len(first) <= _SHORT and "".join(column).isascii()  # type: ignore[arg-type]
        return isinstance(first, (int, float)) and -_INT64 <= sum(column) < _INT64  # type: ignore[arg-type]
    except TypeError:  # a None among them
        return False


def are_short(texts: Texts) -> bool:
    """Whether all are short ASCII texts, each of which may be sent; False only means: look closer."""
    try:
        return max(map(len, texts)) <= _SHORT and "".join(texts).isascii()  # type: ignore[arg-type]
    except TypeError:  # a None among them
        return False


def are_counts(numbers: Iterable[object]) -> bool:
    """Whether all are numbers from zero on, each of which may be sent; False only means: look closer."""
    try:
        return min(numbers) >= 0 and sum(numbers) < _INT64  # type: ignore[type-var,operator,arg-type]
    except (TypeError, ValueError):  # a None among them; none at all
        return False


def _is_short_text(items: Sequence[object]) -> bool:
    """Whether all are ASCII texts, and short ones: to join them is the fastest check there is, but copies them."""
    first = items[0] if items else None
    try:
        return isinstance(first, str) and len(first) <= _SHORT and "".join(items).isascii()  # type: ignore[arg-type]
    except TypeError:  # not a text
        return False


def _sendable(value: _Scalar | None) -> _Scalar | None:
    match value:
        case str():
            return value if value.isascii() else well_formed(value)
        case float() | int():
            return value if _is_sendable(value) else None
        case _:
            return value


def _is_sendable(number: float) -> bool:
    return isfinite(number) if isinstance(number, float) else -_INT64 <= number < _INT64


def _floats(values: Iterable[float]) -> tuple[float, ...] | None:
    try:
        return tuple(map(float, values))
    except OverflowError:  # an integer beyond any float: nobody measured that
        return None
