"""Text without its whitespace, and the way back to the offsets of the original.

Prompt builders indent, wrap and join lines; what is left without whitespace stays the same.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate
from typing import Self

from rag_probe_langchain.locating.places import Range

_BLOCK = 256
_INK = re.compile(r"\S")


def squeeze(text: str) -> str:
    """`text` without whitespace."""
    return "".join(text.split())


def unsqueeze(text: str, index: int) -> int:
    """Where the character number `index` of `squeeze(text)` stands in `text`. Raises IndexError when there is none."""
    at, missing = 0, index + 1
    while missing:
        ink = _INK.search(text, at)
        if not ink:
            raise IndexError(index)
        at = ink.start() + missing
        missing -= len(squeeze(text[ink.start() : at]))
    return at - 1


class Squeezed:
    """Ranges of a text without whitespace, one after another in `text`, with a line break behind each.

    Nothing else in `text` is whitespace, so no match of a squeezed text crosses from one range into the next.
    """

    __slots__ = ("_original", "_origins", "_starts", "text")

    def __init__(self, original: str, pieces: list[str], origins: list[int]) -> None:
        self.text = "".join(pieces)
        self._original = original
        self._origins = origins
        self._starts = list(accumulate(map(len, pieces), initial=0))

    @classmethod
    def of(cls, original: str, ranges: Iterable[Range]) -> Self:
        """Squeezes `ranges` of `original`."""
        pieces: list[str] = []
        origins: list[int] = []
        for start, end in ranges:
            for at in range(start, end, _BLOCK):
                pieces.append(squeeze(original[at : min(at + _BLOCK, end)]))
                origins.append(at)
            pieces.append("\n")
            origins.append(end)
        return cls(original, pieces, origins)

    def offset(self, index: int) -> int:
        """Where the character `text[index]`, no line break, stands in the original."""
        piece = bisect_right(self._starts, index) - 1
        origin = self._origins[piece]
        return origin + unsqueeze(self._original[origin : origin + _BLOCK], index - self._starts[piece])
