"""Finds the lists of passages in what went into a step or came out of it: a bounded look, not a walk."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import is_dataclass
from itertools import islice
from typing import Final, NamedTuple, cast

from langchain_core.documents import Document
from langchain_core.load.serializable import Serializable
from pydantic import BaseModel

_DEPTH: Final = 3
_BREADTH: Final = 64
"""Entries that are looked at per mapping, or per list of lists."""
_SCALARS: Final = frozenset({str, bytes, int, float, bool, type(None)})


class Found(NamedTuple):
    """A list of passages, or an empty list, and the key that it stands under (`""` when it is the value itself)."""

    key: str
    passages: Sequence[object]


def lists_in(value: object) -> list[Found]:
    """The lists of Documents or of (Document, score) pairs in `value`, and its empty lists, outermost first."""
    found: list[Found] = []
    if type(value) not in _SCALARS:
        _collect(found, "", value, _DEPTH)
    return found


def snapshot(value: object) -> object:
    """A shallow copy of a small dict, else `value`: a step may put other lists under its keys."""
    if type(value) is not dict:
        return value
    entries = cast("dict[object, object]", value)
    return entries.copy() if len(entries) <= _BREADTH else entries


def texts_in(value: object) -> Iterable[str]:
    """`value` itself when it is a string, or the strings directly in it when it is a mapping."""
    if isinstance(value, str):
        return (value,)
    entries = mapping(value)
    return () if entries is None else [entry for entry in islice(entries.values(), _BREADTH) if isinstance(entry, str)]


def mapping(value: object) -> Mapping[object, object] | None:
    """`value` when it is a mapping; streamed ones are subclasses of dict."""
    return cast("Mapping[object, object]", value) if isinstance(value, (dict, Mapping)) else None


def sequence(value: object) -> Sequence[object] | None:
    """`value` when it is a list or a tuple."""
    return cast("Sequence[object]", value) if isinstance(value, (list, tuple)) else None


def is_pair(item: object) -> bool:
    """Whether `item` is a Document with its score."""
    pair = sequence(item)
    return pair is not None and len(pair) == 2 and isinstance(pair[0], Document)


def _collect(found: list[Found], key: str, value: object, depth: int) -> None:
    items = sequence(value)
    if items is not None:
        if not items or isinstance(items[0], Document) or is_pair(items[0]):
            found.append(Found(key, items))
        elif depth and isinstance(items[0], (list, tuple)):
            for item in islice(items, _BREADTH):
                _collect(found, key, item, depth - 1)
    elif depth:
        for name, entry in islice(_entries(value).items(), _BREADTH):
            if type(entry) not in _SCALARS:
                _collect(found, f"{key}.{name}" if key else str(name), entry, depth - 1)


def _entries(value: object) -> Mapping[object, object]:
    """What a state holds, whether it is a mapping, a dataclass or a model; messages and prompts are none."""
    entries = mapping(value)
    if entries is not None:
        return entries
    if is_dataclass(value) or (isinstance(value, BaseModel) and not isinstance(value, Serializable)):
        return cast("Mapping[object, object]", getattr(value, "__dict__", {}))
    return {}
