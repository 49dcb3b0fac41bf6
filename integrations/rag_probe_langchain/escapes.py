"""How a text looks once it was written into JSON, HTML, or the repr of a Python object."""

import json
from collections.abc import Iterator
from html import escape


def may_be_escaped(prompt: str) -> bool:
    """Whether the prompt holds a sign that every escape begins with."""
    return "\\" in prompt or "&" in prompt


def spellings(text: str) -> Iterator[str]:
    """The forms of `text` that differ from it: JSON with and without ASCII escapes, the repr of a string, HTML."""
    seen = {text}
    for spelling in (
        json.dumps(text)[1:-1],
        json.dumps(text, ensure_ascii=False)[1:-1],
        repr(text)[1:-1],
        escape(text, quote=True),
        escape(text, quote=False),
    ):
        if spelling not in seen:
            seen.add(spelling)
            yield spelling
