"""Text that came from outside, made safe to show on a terminal or in one line of a message."""

from __future__ import annotations

from typing import Final

_LONG: Final = 60


def visible(text: str) -> str:
    """`text` with everything unprintable (controls, terminal escapes, bidi marks, line ends) escaped."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else _escaped(each) for each in text)


def describe(value: object) -> str:
    """What a value is, in the words of JSON, short enough for one line."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return f"the number {value}"
        case str():
            return f"the text {value[:_LONG]!r}"
        case list() | tuple():
            return "a list"
        case dict():
            return "an object"
        case _:
            return f"a {type(value).__name__}"


def _escaped(character: str) -> str:
    return character.encode("unicode_escape", "backslashreplace").decode("ascii")
