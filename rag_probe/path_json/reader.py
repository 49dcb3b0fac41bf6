"""Typed access to one JSON object, whose errors name the field."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from typing import NoReturn, TypeAlias, TypeVar, cast

from rag_probe.wellformed import well_formed

Json: TypeAlias = "str | int | float | bool | Sequence[Json] | Mapping[str, Json] | None"
Object: TypeAlias = dict[str, "Json"]

W = TypeVar("W")


class PathFormatError(ValueError):
    """Not a path: one line that names the field, what it holds and what was expected."""


class Reader:
    """One object at `place`. A field that is absent or null reads as None; one of another kind raises."""

    __slots__ = ("_fields", "_place")

    def __init__(self, value: object, place: str = "") -> None:
        self._place = place
        if not isinstance(value, Mapping):
            self.refuse("", value, "an object")
        self._fields = cast("Mapping[str, object]", value)

    def refuse(self, name: str, value: object, expected: str) -> NoReturn:
        """Raise the error for a field, or with no name for the object itself."""
        shown = repr(value)
        shown = shown if len(shown) <= 60 else f"{shown[:57]}..."
        raise PathFormatError(f"{self._at(name) or 'path'}: expected {expected}, found {shown}")

    def text(self, name: str) -> str | None:
        """A string."""
        value = self._fields.get(name)
        if value is None:
            return None
        return well_formed(value) if isinstance(value, str) else self.refuse(name, value, "a string")

    def needed(self, name: str) -> str:
        """A string that must be there."""
        text = self.text(name)
        return self.refuse(name, None, "a string") if text is None else text

    def word(self, name: str, words: Mapping[str, W]) -> W | None:
        """One of `words`."""
        text = self.text(name)
        if text is None:
            return None
        return words[text] if text in words else self.refuse(name, text, f"one of {', '.join(words)}")

    def whole(self, name: str) -> int | None:
        """An integer; a boolean is none."""
        value = self._fields.get(name)
        if value is None or type(value) is int:
            return value
        return self.refuse(name, value, "an integer")

    def number(self, name: str) -> float | None:
        """A finite number; a boolean is none."""
        value = self._fields.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not _is_finite(value):
            self.refuse(name, value, "a finite number")
        return float(value)

    def flag(self, name: str) -> bool | None:
        """True or false."""
        value = self._fields.get(name)
        return value if value is None or isinstance(value, bool) else self.refuse(name, value, "true or false")

    def inner(self, name: str) -> Reader | None:
        """An object."""
        value = self._fields.get(name)
        return None if value is None else Reader(value, self._at(name))

    def rows(self, name: str) -> list[Reader] | None:
        """A list of objects."""
        items = self._list(name, "a list of objects")
        return None if items is None else [Reader(item, f"{self._at(name)}[{i}]") for i, item in enumerate(items)]

    def texts(self, name: str) -> tuple[str, ...] | None:
        """A list of strings."""
        items = self._list(name, "a list of strings")
        if items is None:
            return None
        return tuple(
            well_formed(item) if isinstance(item, str) else self._odd(name, i, item) for i, item in enumerate(items)
        )

    def numbers(self, name: str) -> Iterator[tuple[str, float]]:
        """The entries of an object that holds numbers only."""
        inner = self.inner(name)
        for key in () if inner is None else inner._fields:
            number = None if inner is None else inner.number(key)
            if number is not None:
                yield key, number

    def words(self, name: str, words: Mapping[str, W]) -> Iterator[tuple[str, W]]:
        """The entries of an object that holds these words only."""
        inner = self.inner(name)
        for key in () if inner is None else inner._fields:
            word = None if inner is None else inner.word(key, words)
            if word is not None:
                yield key, word

    def ranges(self, name: str) -> tuple[tuple[int, int], ...]:
        """A list of [start, end] pairs, `()` when absent."""
        return tuple(self._range(name, i, item) for i, item in enumerate(self._list(name, "a list of pairs") or ()))

    def _range(self, name: str, index: int, item: object) -> tuple[int, int]:
        match item:
            case [int() as start, int() as end] if 0 <= start <= end and bool not in (type(start), type(end)):
                return start, end
            case _:
                return self.refuse(f"{name}[{index}]", item, "[start, end] with 0 <= start <= end")

    def _odd(self, name: str, index: int, item: object) -> NoReturn:
        self.refuse(f"{name}[{index}]", item, "a string")

    def _list(self, name: str, expected: str) -> Sequence[object] | None:
        value = self._fields.get(name)
        if value is None or isinstance(value, (list, tuple)):
            return cast("Sequence[object] | None", value)
        return self.refuse(name, value, expected)

    def _at(self, name: str) -> str:
        return f"{self._place}.{name}" if self._place and name else self._place or name


def _is_finite(value: float) -> bool:
    try:
        return isfinite(value)
    except OverflowError:  # an integer beyond any float
        return False
