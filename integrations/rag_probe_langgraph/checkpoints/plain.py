"""Stored values as plain data. Nothing that a store names is imported or called: a crafted value does nothing here.

LangGraph's serialiser writes msgpack whose extension types name a class and hold what it was built from. Of these only
LangChain's passages and messages, and LangGraph's own few, become objects again (`built`); all others stay the data
that they hold, and are told.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, cast

import ormsgpack
from langchain_core.documents import Document
from langchain_core.messages import ToolMessage
from langgraph.types import Interrupt, Send

from rag_probe_langgraph.checkpoints.built import FLAT, Asked, Sent, builder_of, flat_passage, passage
from rag_probe_langgraph.checkpoints.stored import Blob, Packed, Serde, Spelled, Stored, Unreadable

_DELTA: Final = 7
"""The extension type that holds a bare value; the other seven hold `[module, name, made of, …]`."""
_DEEPEST: Final = 64
_REMEMBERED: Final = 2_000
_OPEN: Final = FLAT | {Document}
"""Types of values in which nothing has to be opened."""
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


@dataclass(slots=True)
class Reader:
    """Opens stored values, and counts what it would not build."""

    serde: Serde | None = None
    """Asked only for what plain reading cannot open; it is the caller's, and so is what it does."""
    held_back: Counter[str] = field(default_factory=Counter[str])
    """Classes whose values arrive as plain data, and reasons why values stay closed."""
    _passages: dict[bytes, Document] = field(default_factory=dict[bytes, Document])
    """A passage is written by one node after the other: the same bytes are the same passage."""

    def read(self, stored: Stored) -> object:
        """The value, all the way down; `Unreadable` where that cannot be had."""
        try:
            surface = self.surface(stored)
            value = self._open(surface, 0)
            return Spelled(value) if type(value) is str and _is_built(surface) else value
        except (ValueError, TypeError, RecursionError) as error:  # a damaged or a crafted value
            return self._closed(f"damaged value ({type(error).__name__})")

    def surface(self, stored: Stored) -> object:
        """The value with its extension values unopened: enough to see which channels there are."""
        if not isinstance(stored, Blob):
            return stored
        kind, data = stored
        try:
            match kind:
                case "msgpack":
                    return self._unpack(data)
                case "null" | "empty":
                    return None
                case "json":
                    return cast(object, json.loads(data))
                case "bytes" | "bytearray":
                    return data
                case _:
                    return self._by_caller(stored)
        except (ValueError, RecursionError):
            return self._closed(f"damaged value ({kind})")

    def _unpack(self, data: bytes) -> object:
        return cast(object, ormsgpack.unpackb(data, ext_hook=self._extension, option=ormsgpack.OPT_NON_STR_KEYS))

    def _extension(self, code: int, data: bytes) -> object:
        return (self._passages.get(data) if code != _DELTA else None) or Packed(code, data)

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
        kind = type(value)
        if kind in _OPEN:
            return value
        if depth > _DEEPEST:
            return self._closed("nested too deeply")
        if kind is Packed:
            return self._unpacked(cast(Packed, value), depth)
        if kind is list or kind is tuple:
            items = cast("Sequence[object]", value)
            return [item if type(item) in _OPEN else self._open(item, depth + 1) for item in items]
        if kind is dict:
            return self._mapping(cast("Mapping[object, object]", value), depth)
        return self._of_a_saver(value, depth)

    def _of_a_saver(self, value: object, depth: int) -> object:
        """An object that a saver's serialiser has built."""
        match value:
            case Send():
                return Sent(value.node, self._open(cast(object, value.arg), depth + 1))
            case Interrupt():
                return Asked(self._open(cast(object, value.value), depth + 1), value.id)
            case ToolMessage(artifact=list() | dict()):  # LangChain reads passages in it back as bare data
                artifact = self._open(cast(object, value.artifact), depth + 1)
                return value.model_copy(update={"artifact": artifact})
            case _:
                return value

    def _mapping(self, value: Mapping[object, object], depth: int) -> object:
        if value.get("lc") in (1, 2) and isinstance(path := value.get("id"), list) and path:
            *module, name = [str(part) for part in cast("list[object]", path)]
            return self._named(".".join(module), name, value.get("kwargs", value.get("args")), depth)
        opened = {key: item if type(item) in _OPEN else self._open(item, depth + 1) for key, item in value.items()}
        return passage(opened) if opened.get("type") == "Document" and "page_content" in opened else opened

    def _unpacked(self, packed: Packed, depth: int) -> object:
        inner = self._unpack(packed.data)
        if packed.code == _DELTA:
            return self._open(inner, depth + 1)
        if not isinstance(inner, list) or len(cast("list[object]", inner)) < 3:
            return self._closed("an extension type of another version")
        module, name, made_of, *_ = cast("list[object]", inner)
        opened = self._named(str(module), str(name), made_of, depth)
        if type(opened) is Document:
            if len(self._passages) >= _REMEMBERED:
                self._passages.clear()
            self._passages[packed.data] = opened
        return opened

    def _named(self, module: str, name: str, made_of: object, depth: int) -> object:
        build = builder_of(module, name)
        if build is passage and (flat := flat_passage(made_of)) is not None:
            return flat
        opened = self._open(made_of, depth + 1)
        built = None if build is None else build(opened)
        if built is not None:
            return built
        if (module, name) not in _HARMLESS:
            self.held_back[f"{module}.{name}"] += 1
        return opened


def _is_built(surface: object) -> bool:
    return isinstance(surface, Packed) and surface.code != _DELTA
