"""Text that came from somewhere else, made harmless for a terminal."""

from __future__ import annotations

import re
from typing import Final

_ELLIPSIS: Final = "…"
_CONTROLS: Final = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]+")
"""Control characters, line breaks, what reorders text, and what is no character at all."""
_UNESCAPED: Final = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""Those of them that a JSON writer lets through."""


def plain(text: str, limit: int | None = None) -> str:
    """One line without anything that a terminal acts upon, at most `limit` characters long."""
    line = _CONTROLS.sub(" ", text[: 4 * limit] if limit is not None else text).strip()
    if limit is None or len(line) <= limit:
        return line
    return line[: limit - 1].rstrip() + _ELLIPSIS


def safe_json(document: str) -> str:
    """The same JSON, in which nothing acts upon a terminal."""
    return _UNESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", document)
