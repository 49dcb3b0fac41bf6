"""How a text looks once it was written into JSON, HTML, or the repr of a Python object."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from html import escape
from typing import Final, TypeAlias

Escape: TypeAlias = Callable[[str], str]


def _json(text: str) -> str:
    return json.dumps(text)[1:-1]


def _json_unicode(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _repr(text: str) -> str:
    return repr(text)[1:-1]


def _html_text(text: str) -> str:
    return escape(text, quote=False)


_ENTITIES: Final = ("&amp;", "&lt;", "&gt;", "&quot;", "&#x27;")


def escapes_in(prompt: str) -> Sequence[Escape]:
    """The escapes that may have been used in the prompt: it holds a sign that each of them leaves behind."""
    escapes: list[Escape] = []
    if "\\" in prompt:
        escapes += [_json, _json_unicode, _repr]
    if any(entity in prompt for entity in _ENTITIES):
        escapes += [escape, _html_text]
    return escapes


def spellings(text: str, escapes: Sequence[Escape]) -> Iterator[str]:
    """The forms that the escapes give to `text`, each once, apart from `text` itself."""
    yield from dict.fromkeys(form for write in escapes if (form := write(text)) != text)
