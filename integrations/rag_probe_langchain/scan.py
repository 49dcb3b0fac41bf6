"""Finds the lists of passages in what went into a step or came out of it: a bounded look, not a walk."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import is_dataclass
from typing import Final, NamedTuple

from langchain_core.documents import Document
from pydantic import BaseModel

_DEPTH: Final = 3
_BREADTH: Final = 64
"""Entries that are looked at per mapping."""


class Found(NamedTuple):
    """A list of passages, or an empty list, and the key that it stands under (`""` when it is the value itself)."""

    key: str
    passages: Sequence[object]


def lists_in(value: object) -> list[Found]:
    """The lists of Documents or of (Document, score) pairs in `value`, and its empty lists, outermost first."""
    if isinstance(value, (str, bytes)) or value is None:
        return []
    return list(_lists("", value, _DEPTH))


def snapshot(value: object) -> object:
    """`value`, or a shallow copy when it is a small dict: a step may put other lists under its keys."""
    if type(value) is dict and len(value) <= _BREADTH:  # pyright: ignore[reportUnknownArgumentType]
        return value.copy()  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
    return value


def texts_in(value: object) -> Iterator[str]:
    """`value` itself when it is a string, or the strings directly in it when it is a mapping."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        entries: Mapping[object, object] = value
        for _, entry in zip(range(_BREADTH), entries.values(), strict=False):
            if isinstance(entry, str):
                yield entry


def _lists(key: str, value: object, depth: int) -> Iterator[Found]:
    if isinstance(value, (list, tuple)):
        items: Sequence[object] = value
        if not items or _is_passage(items[0]):
            yield Found(key, items)
        elif isinstance(items[0], (list, tuple)) and depth:
            for _, item in zip(range(_BREADTH), items, strict=False):
                yield from _lists(key, item, depth - 1)
    elif depth:
        for name, entry in _entries(value):
            if not isinstance(entry, (str, bytes, int, float)) and entry is not None:
                yield from _lists(f"{key}.{name}" if key else str(name), entry, depth - 1)


def _entries(value: object) -> Iterator[tuple[object, object]]:
    if isinstance(value, Mapping):
        entries: Mapping[object, object] = value
    elif (isinstance(value, BaseModel) and not isinstance(value, Document)) or is_dataclass(value):
        entries = getattr(value, "__dict__", {})
    else:
        return
    for _, entry in zip(range(_BREADTH), entries.items(), strict=False):
        yield entry


def _is_passage(item: object) -> bool:
    if isinstance(item, Document):
        return True
    return isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], Document)  # pyright: ignore[reportUnknownArgumentType]
