"""An entry of a file as a typed value, or one line that says where and what was expected."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import Any, Final, Generic, TypeVar, cast

import orjson
from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from rag_probe_collector.errors import InputError
from rag_probe_collector.register.listing import Item
from rag_probe_collector.register.visible import describe, visible

T = TypeVar("T")

_EXPECTED: Final = {
    "string_type": "text",
    "bool_type": "true or false",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "tuple_type": "a list",
    "frozen_set_type": "a list",
    "list_type": "a list",
    "dict_type": "an object",
    "dataclass_type": "an object",
    "datetime_type": "a date or time as 2030-01-31 or 2030-01-31T12:00:00Z",
    "date_type": "a date as 2030-01-31",
}
_REMEDY: Final = {
    "text": "put it in quotes",
    "true or false": "write the bare word",
    "a whole number": "write it without quotes or decimals",
    "a list": 'write it as ["…"]',
}


class Shape(Generic[T]):
    """How entries of one kind of file become `T`, strictly: a boolean is no number and a number no text.

    Fields that `T` does not know are ignored: later versions may add some.
    """

    def __init__(self, kind: type[T], noun: str, name: str = "id") -> None:
        """`name` is the field by which messages call an entry."""
        self._adapter = TypeAdapter(kind)
        self._noun = noun
        self._name = name
        self.known: Final = tuple(each.name for each in fields(cast("Any", kind)))

    def read(self, item: Item, unique: Sequence[str] = ()) -> T:
        """The value; raises `InputError`, also when a list of `unique` names an id twice."""
        place = self.place(item)
        entry = _object(item.value)
        if entry is None:
            raise InputError(f"{place}: expected an object, got {describe(item.value)}")
        try:
            value = self._adapter.validate_json(orjson.dumps(entry), strict=True)
        except ValidationError as error:
            raise InputError(f"{place}: {self._explain(entry, error)}") from None
        except TypeError as error:
            raise InputError(f"{place}: expected what JSON can say: {visible(str(error))}") from None
        for field in unique:
            refuse_twice(cast("list[str] | None", entry.get(field)) or (), f"{place}: {field}")
        return value

    def place(self, item: Item) -> str:
        """`FILE:LINE case 'id'`, the id when it has one."""
        name = (_object(item.value) or {}).get(self._name)
        return f"{item.place} {self._noun} {name[:80]!r}" if isinstance(name, str) else f"{item.place} {self._noun}"

    def misspelt(self, entry: object) -> list[tuple[str, str]]:
        """Unknown fields that look like a known one that is absent: (written, meant)."""
        entry_keys = cast("dict[object, object]", entry) if isinstance(entry, dict) else {}
        written = [key for key in entry_keys if isinstance(key, str)]  # YAML has other keys too
        absent = [name for name in self.known if name not in written]
        near = [(word, difflib.get_close_matches(word, absent, 1, 0.84)) for word in written if word not in self.known]
        return [(word, meant[0]) for word, meant in near if meant]

    def _explain(self, entry: dict[str, object], error: ValidationError) -> str:
        details = error.errors(include_url=False)
        field, value = _walk(entry, details[0]["loc"])
        if details[0]["type"] == "missing":
            hints = [f"; is {visible(word)!r} meant for it?" for word, meant in self.misspelt(entry) if meant == field]
            return f"{field}: expected a value, got none; add it{hints[0] if hints else ''}"
        expected = dict.fromkeys(_expected(each) for each in details if _walk(entry, each["loc"])[0] == field)
        remedies = [_REMEDY[each] for each in expected if each in _REMEDY]
        more = f" (and {error.error_count() - len(expected)} more)" if error.error_count() > len(expected) else ""
        remedy = f"; {remedies[0]}" if remedies else ""
        return f"{field}: expected {' or '.join(expected)}, got {describe(value)}{remedy}{more}"


def refuse_twice(ids: Iterable[str], place: str) -> None:
    """Raises `InputError` when an id comes twice."""
    seen: set[str] = set()
    for each in ids:
        if each in seen:
            raise InputError(f"{place}: expected each id once, got {each[:80]!r} twice; remove one")
        seen.add(each)


def _object(value: object) -> dict[str, object] | None:
    return cast("dict[str, object]", value) if isinstance(value, dict) else None


def _expected(detail: ErrorDetails) -> str:
    if detail["type"] == "literal_error":
        return str(detail.get("ctx", {}).get("expected", detail["msg"])).replace("'", "")
    return _EXPECTED.get(detail["type"]) or detail["msg"].removeprefix("Input should be ")


def _walk(entry: object, location: tuple[int | str, ...]) -> tuple[str, object]:
    """The field's path as a reader writes it, and what stands there; a union's own labels are no part of it."""
    path, value = "", entry
    for step in location:
        if isinstance(step, int) and isinstance(value, list):
            items = cast("list[object]", value)
            path, value = f"{path}[{step}]", items[step] if step < len(items) else None
        elif isinstance(step, str) and isinstance(value, dict):
            path = f"{path}.{visible(step)}" if path else visible(step)
            value = cast("dict[str, object]", value).get(step)
    return path, value
