"""Finds the lists of passages in what went into a step or came out of it: a bounded look, not a walk."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import compress, islice
from typing import Final, Literal, NamedTuple, TypeAlias, TypeGuard, cast

from langchain_core.documents import Document
from langchain_core.load.serializable import Serializable
from pydantic import BaseModel

from rag_probe_langchain.reading.loose import is_plain

_DEPTH: Final = 3
_BREADTH: Final = 64
"""Entries that are looked at per mapping, or per list of lists."""

_BARE: Final = frozenset({"text", "opaque"})

_Shape: TypeAlias = Literal["text", "list", "mapping", "state", "document", "opaque"]


class Found(NamedTuple):
    """A list of passages, or an empty list, and the key that it stands under (`""` when it is the value itself)."""

    key: str
    passages: Sequence[object]


@lru_cache(maxsize=512)
def shape_of(kind: type[object]) -> _Shape:
    """What a value of this type is: messages, prompts and numbers hold no passages, lazy containers are left alone.

    Remembered, because `isinstance` of pydantic's and abstract classes is not cheap.
    """
    if issubclass(kind, (str, bytes)):
        return "text"
    if issubclass(kind, (list, tuple)):
        return "list" if is_plain(cast("type[object]", kind)) else "opaque"
    if issubclass(kind, Mapping):
        return "mapping" if is_plain(cast("type[object]", kind)) else "opaque"
    if issubclass(kind, Serializable):
        return "document" if issubclass(kind, Document) else "opaque"
    is_state = issubclass(kind, BaseModel) or hasattr(kind, "__dataclass_fields__")
    return "state" if is_state else "opaque"


@lru_cache(maxsize=512)
def _may_hold(kind: type[object]) -> bool:
    """Whether there may be passages in a value of this type."""
    return shape_of(kind) not in _BARE


def holds_none(value: object) -> bool:
    """Whether there is no list in `value` at all, as in most of what plumbing passes on; False means: look closer."""
    shape = shape_of(type(value))
    if shape == "mapping":
        entries: Mapping[object, object] = value  # pyright: ignore[reportAssignmentType] - as its shape says
        return len(entries) <= _BREADTH and not any(map(_may_hold, map(type, entries.values())))
    return shape in _BARE


def lists_in(value: object) -> list[Found]:
    """The lists of Documents or of (Document, score) pairs in `value`, and its empty lists, outermost first."""
    found: list[Found] = []
    shape = shape_of(type(value))
    if shape == "list":
        items: Sequence[object] = value  # pyright: ignore[reportAssignmentType] - as its shape says
        if items and shape_of(type(items[0])) == "document":
            return [Found("", items)]
    if shape not in _BARE:
        _collect(found, "", value, shape, _DEPTH)
    return found


def passages_in(value: object) -> list[object]:
    """All passages in `value`, in lists or alone under a key."""
    if shape_of(type(value)) == "document":
        return [value]
    entries = mapping(value)
    alone = [] if entries is None else [item for item in islice(entries.values(), _BREADTH) if is_document(item)]
    return [*alone, *(passage for found in lists_in(value) for passage in found.passages)]


def snapshot(value: object) -> object:
    """A shallow copy of a small dict, else `value`: a step may put other lists under its keys."""
    if type(value) is dict and len(value) <= _BREADTH:  # pyright: ignore[reportUnknownArgumentType] - any dict
        return value.copy()  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType] - as above
    return value  # pyright: ignore[reportUnknownVariableType] - as above


def texts_in(value: object) -> Iterable[str]:
    """`value` itself when it is a string, or the strings directly in it when it is a mapping or a state."""
    if isinstance(value, str):
        return (value,)
    entries = mapping(value)
    return () if entries is None else [entry for entry in islice(entries.values(), _BREADTH) if isinstance(entry, str)]


def mapping(value: object) -> Mapping[object, object] | None:
    """`value` when it is a mapping (streamed ones are subclasses of dict), or the fields of a state."""
    shape = shape_of(type(value))
    if shape == "state":
        return _fields(value)
    return value if shape == "mapping" else None  # pyright: ignore[reportReturnType] - as its shape says


def sequence(value: object) -> Sequence[object] | None:
    """`value` when it is a list or a tuple."""
    return value if shape_of(type(value)) == "list" else None  # pyright: ignore[reportReturnType] - as its shape says


def is_document(item: object) -> TypeGuard[Document]:
    """Whether `item` is a passage."""
    return shape_of(type(item)) == "document"


def is_pair(item: object) -> bool:
    """Whether `item` is a Document with its score, not a list of two Documents."""
    pair = sequence(item)
    return pair is not None and len(pair) == 2 and is_document(pair[0]) and not is_document(pair[1])


def _fields(state: object) -> Mapping[object, object]:
    """The fields of a pydantic model or a dataclass, by storage: no property of the app's is run."""
    stored = getattr(state, "__dict__", None)
    if stored is not None:
        return stored
    names: Iterable[str] = getattr(type(state), "__dataclass_fields__", ())
    return {name: getattr(state, name) for name in names if hasattr(state, name)}


def _collect(found: list[Found], key: str, value: object, shape: _Shape, depth: int) -> None:
    if shape == "list":
        items: Sequence[object] = value  # pyright: ignore[reportAssignmentType] - as its shape says
        first = shape_of(type(items[0])) if items else "document"
        if first == "document" or (first == "list" and is_pair(items[0])):
            found.append(Found(key, items))
        elif depth and first == "list":
            for item in islice(items, _BREADTH):
                _collect(found, key, item, shape_of(type(item)), depth - 1)
    elif depth and shape in ("mapping", "state"):
        entries: Mapping[object, object]
        entries = value if shape == "mapping" else _fields(value)  # pyright: ignore[reportAssignmentType]
        holding = map(_may_hold, map(type, entries.values()))
        for name, entry in compress(islice(entries.items(), _BREADTH), holding):
            _collect(found, f"{key}.{name}" if key else str(name), entry, shape_of(type(entry)), depth - 1)
