"""How a text looks once it was written into JSON, markup, or the repr of a Python object.

Each escape writes character by character: the form of a text is that of its beginning and that of its end.
"""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from html import escape
from typing import Final, TypeAlias

from rag_probe_langchain.locating.places import Range

Escape: TypeAlias = Callable[[str], str]

_MARKUP: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&#34;", "'": "&#39;"})
_MUSTACHE: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})
_ENTITIES: Final = ("&amp;", "&lt;", "&gt;", "&quot;", "&#x27;", "&#34;", "&#39;")


def _json(text: str) -> str:
    return json.dumps(text)[1:-1]


def _json_unicode(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _json_twice(text: str) -> str:
    return _json(_json(text))


def _json_unicode_twice(text: str) -> str:
    return _json_unicode(_json_unicode(text))


def _repr(text: str) -> str:
    """As Python writes a text that has no quotes, or quotes of one kind."""
    return "'".join([repr('"' + part)[2:-1] for part in text.split("'")])


def _repr_quoted(text: str) -> str:
    """As it writes one that has both kinds."""
    return _repr(text).replace("'", "\\'")


def _html_text(text: str) -> str:
    return escape(text, quote=False)


def _markupsafe(text: str) -> str:
    return text.translate(_MARKUP)


def _mustache(text: str) -> str:
    return text.translate(_MUSTACHE)


def escapes_in(prompt: str) -> Sequence[Escape]:
    """The escapes that may have been used in the prompt: it holds a sign that each of them leaves behind."""
    escapes: list[Escape] = []
    if "\\" in prompt:
        escapes += [_json, _json_unicode, _repr, _repr_quoted]
    if "\\\\" in prompt:
        escapes += [_json_twice, _json_unicode_twice]
    if any(entity in prompt for entity in _ENTITIES):
        escapes += [escape, _html_text, _markupsafe, _mustache]
    return escapes


def spellings(text: str, escapes: Sequence[Escape]) -> Iterator[str]:
    """The forms that the escapes give to `text`, each once, apart from `text` itself."""
    yield from dict.fromkeys(form for write in escapes if (form := write(text)) != text)


def unescaped(kept: Range, text: str, write: Escape) -> Range:
    """The range of `text` whose characters are wholly in the range `kept` of its escaped form."""

    def length(end: int) -> int:
        return len(write(text[:end]))

    ends = range(len(text) + 1)
    start = bisect_left(ends, kept[0], key=length)
    return start, max(start, bisect_right(ends, kept[1], key=length) - 1)
