"""The JSON inside attributes of the GenAI conventions: messages and documents. What is malformed is not captured."""

from __future__ import annotations

from typing import Final, cast

import orjson

from rag_probe.stages import Chunks

_MAX: Final = 4_000_000
"""Characters of one attribute that are parsed."""
_QUESTIONS: Final = ("question", "query", "input")


def last_text(messages: str | None, *roles: str) -> str | None:
    """The text of the last message of one of the roles: its text parts, joined."""
    for message in reversed(_objects(messages)):
        if message.get("role") in roles:
            parts = message.get("parts")
            texts = [part.get("content") for part in _dicts(parts) if part.get("type") == "text"]
            return "".join(text for text in texts if isinstance(text, str)) if texts else None
    return None


def question_in(messages: str | None) -> str | None:
    """The last user message; of an input recorded as JSON, its `question`, `query` or `input`. A blank one is none."""
    text = (last_text(messages, "user", "human") or "").strip()
    if not text.startswith("{"):
        return text or None
    parsed = _parsed(text)
    if not isinstance(parsed, dict):
        return text
    entries = cast(dict[str, object], parsed)
    asked = next((value for key in _QUESTIONS if isinstance(value := entries.get(key), str)), text)
    return asked.strip() or None


def documents_in(listed: str | None) -> Chunks | None:
    """Ids and scores; None unless every document has an id."""
    parsed = None if listed is None else _parsed(listed)
    if not isinstance(parsed, list):
        return None
    documents = _dicts(cast(object, parsed))
    ids = [name for document in documents if (name := _id(document.get("id"))) is not None]
    if len(ids) < len(cast(list[object], parsed)):
        return None
    scores = tuple(_number(document.get("score")) for document in documents)
    return Chunks(ids=tuple(ids), scores=scores if any(score is not None for score in scores) else ())


def _objects(text: str | None) -> list[dict[str, object]]:
    return [] if text is None else _dicts(_parsed(text))


def _dicts(value: object) -> list[dict[str, object]]:
    if not isinstance(value, list):
        return []
    return [cast(dict[str, object], item) for item in cast(list[object], value) if isinstance(item, dict)]


def _parsed(text: str) -> object:
    if len(text) > _MAX:
        return None
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return None


def _id(value: object) -> str | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value if isinstance(value, str) and value else None


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None
