"""Stored values as plain data. Nothing that a store names is imported or called: a crafted value does nothing here.

LangGraph's serialiser writes msgpack whose extension types name a class and hold what it was built from. Of these only
LangChain's passages and messages, and LangGraph's own few, become objects again, by names that stand in this file; all
others stay the data that they hold, and are told.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple, Protocol, TypeAlias, cast

import ormsgpack
from langchain_core.documents import Document
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)
from langgraph.types import Interrupt, Send
from pydantic import ValidationError

_DELTA: Final = 7
"""The extension type that holds a bare value; the other seven hold `[module, name, made of, …]`."""
_DEEPEST: Final = 64
_REMEMBERED: Final = 2_000
_PLAIN: Final = frozenset({str, int, float, bool, bytes, type(None)})
_MESSAGES: Final[Mapping[str, type[BaseMessage]]] = {
    kind.__name__: kind
    for kind in (
        AIMessage,
        AIMessageChunk,
        ChatMessage,
        FunctionMessage,
        HumanMessage,
        RemoveMessage,
        SystemMessage,
        ToolMessage,
    )
}
_HARMLESS: Final = frozenset(
    {
        *(("builtins", name) for name in ("set", "frozenset", "tuple", "list", "dict")),
        *(("datetime", name) for name in ("datetime", "date", "time", "timedelta", "timezone")),
        *(("pathlib", name) for name in ("PosixPath", "WindowsPath", "PurePosixPath", "PureWindowsPath", "Path")),
        ("collections", "deque"),
        ("decimal", "Decimal"),
        ("re", "compile"),
        ("uuid", "UUID"),
        ("zoneinfo", "ZoneInfo"),
    }
)
"""Values that say all that they are as plain data: a list, a date's text."""


class Packed(NamedTuple):
    """An extension value that nobody has opened yet: most never are."""

    code: int
    data: bytes


class Unreadable(NamedTuple):
    """A value that stays closed, and why."""

    why: str


class Sent(NamedTuple):
    """LangGraph's `Send`: a task for a node, with its own input."""

    node: str
    given: object


class Asked(NamedTuple):
    """LangGraph's `Interrupt`: what a node asked before it paused."""

    value: object
    id: str | None


class Serde(Protocol):
    """A caller's own serialiser, for values that only it can read (encryption)."""

    def loads_typed(self, data: tuple[str, bytes]) -> object:
        """The value."""
        ...


class Blob(NamedTuple):
    """A value as a store holds it: the serialiser's name for its form, and its bytes."""

    kind: str
    data: bytes


Stored: TypeAlias = object
"""A `Blob`, or what a saver has already made of one."""


@dataclass(slots=True)
class Reader:
    """Opens stored values, and counts what it would not build."""

    serde: Serde | None = None
    """Asked only for what plain reading cannot open; it is the caller's, and so is what it does."""
    held_back: Counter[str] = field(default_factory=Counter[str])
    """Classes whose values arrive as plain data, and reasons why values stay closed."""
    _passages: dict[Packed, Document] = field(default_factory=dict[Packed, Document])
    """A passage is written by one node after the other: the same bytes are the same passage."""

    def read(self, stored: Stored) -> object:
        """The value, all the way down; `Unreadable` where that cannot be had."""
        try:
            return self._open(self.surface(stored), 0)
        except (ValueError, TypeError, RecursionError) as error:  # a damaged or a crafted value
            return self._closed(f"damaged value ({type(error).__name__})")

    def surface(self, stored: Stored) -> object:
        """The value with its extension values unopened: enough to see which channels there are."""
        if not isinstance(stored, Blob):
            return stored
        kind, data = stored
        try:
            match kind:
                case "null" | "empty":
                    return None
                case "msgpack":
                    return cast(object, ormsgpack.unpackb(data, ext_hook=Packed, option=ormsgpack.OPT_NON_STR_KEYS))
                case "json":
                    return cast(object, json.loads(data))
                case "bytes" | "bytearray":
                    return data
                case _:
                    return self._by_caller(stored)
        except (ValueError, RecursionError):
            return self._closed(f"damaged value ({kind})")

    def _by_caller(self, blob: Blob) -> object:
        if self.serde is not None:
            try:
                return self.serde.loads_typed(blob)
            except Exception as error:  # the caller's own, which may raise anything: a wrong key, another cipher
                return self._closed(f"{blob.kind}, which the given serde cannot open ({type(error).__name__})")
        _, plus, cipher = blob.kind.partition("+")
        return self._closed(f"encrypted ({cipher})" if plus else f"stored as {blob.kind}")

    def _closed(self, why: str) -> Unreadable:
        self.held_back[why] += 1
        return Unreadable(why)

    def _open(self, value: object, depth: int) -> object:
        if depth > _DEEPEST:
            return self._closed("nested too deeply")
        kind = type(value)
        if kind in _PLAIN:
            return value
        match value:
            case Packed():
                return self._passages.get(value) or self._unpacked(value, depth)
            case _ if kind is list or kind is tuple:
                return [self._open(item, depth + 1) for item in cast("Sequence[object]", value)]
            case Send():
                return Sent(value.node, self._open(cast(object, value.arg), depth + 1))
            case Interrupt():
                return Asked(self._open(cast(object, value.value), depth + 1), value.id)
            case ToolMessage(artifact=list() | dict()):  # LangChain reads passages in it back as bare data
                artifact = self._open(cast(object, value.artifact), depth + 1)
                return value.model_copy(update={"artifact": artifact})
            case _ if kind is dict:
                return self._mapping(cast("Mapping[object, object]", value), depth)
            case _:
                return value

    def _mapping(self, value: Mapping[object, object], depth: int) -> object:
        if value.get("lc") in (1, 2) and isinstance(path := value.get("id"), list) and path:
            *module, name = [str(part) for part in cast("list[object]", path)]
            return self._named(".".join(module), name, self._open(value.get("kwargs", value.get("args")), depth + 1))
        opened = {key: item if type(item) in _PLAIN else self._open(item, depth + 1) for key, item in value.items()}
        return _passage(opened) if opened.get("type") == "Document" and "page_content" in opened else opened

    def _unpacked(self, packed: Packed, depth: int) -> object:
        inner = cast(object, ormsgpack.unpackb(packed.data, ext_hook=Packed, option=ormsgpack.OPT_NON_STR_KEYS))
        if packed.code == _DELTA:
            return self._open(inner, depth + 1)
        if not isinstance(inner, list) or len(cast("list[object]", inner)) < 3:
            return self._closed("an extension type of another version")
        module, name, made_of, *_ = cast("list[object]", inner)
        opened = self._named(str(module), str(name), self._open(made_of, depth + 1))
        if isinstance(opened, Document):
            if len(self._passages) >= _REMEMBERED:
                self._passages.clear()
            self._passages[packed] = opened
        return opened

    def _named(self, module: str, name: str, made_of: object) -> object:
        build = _KNOWN.get((module.partition(".")[0], name))
        if build is not None:
            built = build(made_of)
            if built is not None:
                return built
        if (module, name) in _HARMLESS:
            return made_of
        self.held_back[f"{module}.{name}"] += 1
        return made_of


def _passage(made_of: object) -> Document | None:
    if isinstance(made_of, Document):
        return made_of
    fields = _fields(made_of)
    text, metadata, name = fields.get("page_content"), fields.get("metadata"), fields.get("id")
    if not isinstance(text, str):
        return None
    known = _fields(metadata)
    if set(map(type, known)) - {str}:
        known = {str(key): item for key, item in known.items()}
    # What pydantic would check has just been checked, at a third of the price.
    return Document.model_construct(id=name if isinstance(name, str) else None, page_content=text, metadata=known)


def _message(kind: type[BaseMessage]) -> Callable[[object], BaseMessage | None]:
    def build(made_of: object) -> BaseMessage | None:
        try:
            return kind.model_validate(made_of)
        except (
            ValidationError,
            ValueError,
            TypeError,
            AttributeError,
            KeyError,
        ):  # fields of another version, or crafted ones
            return None

    return build


def _send(made_of: object) -> Sent | None:
    parts = cast("list[object]", made_of) if isinstance(made_of, list) else list(_fields(made_of).values())
    return Sent(str(parts[0]), parts[1]) if len(parts) > 1 else None


def _interrupt(made_of: object) -> Asked | None:
    fields = _fields(made_of)
    name = fields.get("id") or fields.get("interrupt_id")
    return Asked(fields.get("value"), name if isinstance(name, str) else None) if "value" in fields else None


def _overwrite(made_of: object) -> object | None:
    return _fields(made_of).get("value", made_of)


def _fields(made_of: object) -> Mapping[object, object]:
    return cast("Mapping[object, object]", made_of) if isinstance(made_of, dict) else {}


_KNOWN: Final[Mapping[tuple[str, str], Callable[[object], object | None]]] = {
    ("langchain_core", "Document"): _passage,
    ("langchain", "Document"): _passage,
    ("langgraph", "Send"): _send,
    ("langgraph", "Interrupt"): _interrupt,
    ("langgraph", "Overwrite"): _overwrite,
    **{("langchain_core", name): _message(kind) for name, kind in _MESSAGES.items()},
    **{("langchain", name): _message(kind) for name, kind in _MESSAGES.items()},
}
"""By top-level package and class: what it was made of → the object, or None where that does not fit."""
