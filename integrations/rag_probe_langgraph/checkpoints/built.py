"""The few classes that become objects again, by names that stand here: nothing is imported or called by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple, TypeAlias, cast

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
from pydantic import ValidationError

Build: TypeAlias = Callable[[object], object | None]
"""What something was made of → the object, or None where that does not fit."""

FLAT: Final = frozenset({str, int, float, bool, bytes, type(None)})
"""Types of values that hold no others."""
_NAMES: Final = frozenset({str})
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
_BLANK: Final[Mapping[str, object]] = Document("").__dict__
_SET: Final = {"id", "metadata", "page_content"}


class Sent(NamedTuple):
    """LangGraph's `Send`: a task for a node, with its own input."""

    node: str
    given: object


class Asked(NamedTuple):
    """LangGraph's `Interrupt`: what a node asked before it paused."""

    value: object
    id: str | None


def builder_of(module: str, name: str) -> Build | None:
    """How an object of this class is built; None for a class that stays data."""
    return _KNOWN.get((module.partition(".")[0], name))


def flat_passage(fields: object) -> Document | None:
    """A passage whose fields hold nothing that has yet to be opened, as most are; None: look closer."""
    if type(fields) is not dict:
        return None
    known = cast("Mapping[object, object]", fields)
    text, metadata = known.get("page_content"), known.get("metadata")
    if type(text) is not str or type(metadata) is not dict:
        return None
    entries = cast("dict[str, object]", metadata)
    if FLAT.issuperset(map(type, entries.values())) and _NAMES.issuperset(map(type, entries)):
        return _document(text, entries, known.get("id"))
    return None


def passage(made_of: object) -> Document | None:
    """A passage, of fields that were opened."""
    if isinstance(made_of, Document):
        return made_of
    fields = _fields(made_of)
    text, metadata = fields.get("page_content"), _fields(fields.get("metadata"))
    if not isinstance(text, str):
        return None
    return _document(text, {str(key): item for key, item in metadata.items()}, fields.get("id"))


def _document(text: str, metadata: dict[str, object], name: object) -> Document:
    """What pydantic would check has just been checked: as unpickling does it, at a tenth of the price."""
    own = name if isinstance(name, str) else None
    made = Document.__new__(Document)
    made.__setstate__(
        {
            "__dict__": {**_BLANK, "id": own, "metadata": metadata, "page_content": text},
            "__pydantic_fields_set__": _SET,
            "__pydantic_extra__": None,
            "__pydantic_private__": None,
        }
    )
    return made


def _message(kind: type[BaseMessage]) -> Build:
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


_KNOWN: Final[Mapping[tuple[str, str], Build]] = {
    ("langchain_core", "Document"): passage,
    ("langchain", "Document"): passage,
    ("langgraph", "Send"): _send,
    ("langgraph", "Interrupt"): _interrupt,
    ("langgraph", "Overwrite"): _overwrite,
    **{("langchain_core", name): _message(kind) for name, kind in _MESSAGES.items()},
    **{("langchain", name): _message(kind) for name, kind in _MESSAGES.items()},
}
"""By top-level package and class."""
