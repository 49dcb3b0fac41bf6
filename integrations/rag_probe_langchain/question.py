"""The question of a root run, read from what went into it (contracts 1)."""

from __future__ import annotations

from typing import Final

from langchain_core.messages import HumanMessage

from rag_probe_langchain.scan import mapping, sequence

_NAMES: Final = ("question", "query", "input")


def question_in(inputs: object) -> str | None:
    """The root's string input, else its `question`, `query` or `input`, else the last human message."""
    if isinstance(inputs, str):
        return inputs or None
    entries = mapping(inputs)
    if entries is None:
        return _last_human(inputs)
    for name in _NAMES:
        value = entries.get(name)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, HumanMessage):
            return str(value.text) or None
    return _last_human(entries.get("messages"))


def _last_human(messages: object) -> str | None:
    for message in reversed(sequence(messages) or ()):
        text = _said(message)
        if text:
            return text
    return None


def _said(message: object) -> str | None:
    if isinstance(message, HumanMessage):
        return str(message.text)
    match message:
        case ("human" | "user", str(text)) | {"role": "user" | "human", "content": str(text)}:
            return text
        case _:
            return None
