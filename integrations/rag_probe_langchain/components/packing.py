"""Which passages go into a context of bounded size, and how much of each. Pure: documents in, entries out."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, Literal, NamedTuple, Protocol, TypeAlias

from langchain_core.documents import Document

Overflow: TypeAlias = Literal["drop", "sentence", "character"]


class Cost(Protocol):
    """The tokens that a passage takes as the first (1), second, … that is taken; more of its text never takes less."""

    def __call__(self, document: Document, number: int) -> int:
        """Counts them."""
        ...


SHORTEST: Final = 40
"""Characters below which what would be left of a passage is not worth its place."""
_SENTENCE: Final = re.compile(r"[.!?…]+[\"'”’)\]]*(?=\s)|[。！？]+|\n+")


class Entry(NamedTuple):
    """A passage of the context."""

    place: int
    """Of the document among those given."""
    document: Document
    """What is left of it."""
    cut: bool = False


class Packed(NamedTuple):
    """Entries by priority, and what fell: by place, with the reason."""

    entries: list[Entry]
    dropped: dict[int, str]


def pack(
    documents: Sequence[Document], priority: Sequence[int], limit: int | None, cost: Cost, overflow: Overflow
) -> Packed:
    """Takes documents by `priority` as long as their tokens keep to `limit`.

    One that does not fit is left out, and a shorter one behind it may still fit; or it is cut, once, and nothing
    follows. A text that was taken before is a `duplicate`, a blank one `empty`; all else falls for the `budget`.
    """
    packed = Packed([], {})
    taken: set[str] = set()
    left = limit
    for place in priority:
        document = documents[place]
        text = document.page_content.strip()
        priced = partial(cost, number=len(packed.entries) + 1)
        entry = None
        if text and text not in taken:
            entry = _fitted(Entry(place, document), left, priced, overflow)
        if entry is None:
            packed.dropped[place] = "empty" if not text else "duplicate" if text in taken else "budget"
            continue
        taken.add(text)
        packed.entries.append(entry)
        if left is not None:
            left = 0 if entry.cut else left - priced(entry.document)
    return packed


def _fitted(entry: Entry, left: int | None, cost: Callable[[Document], int], overflow: Overflow) -> Entry | None:
    if left is None or cost(entry.document) <= left:
        return entry
    text = entry.document.page_content
    if overflow == "drop" or left <= 0:
        return None
    ends = [match.end() for match in _SENTENCE.finditer(text)] if overflow == "sentence" else range(len(text))
    low, high = 0, len(ends)
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if cost(_until(entry, ends[middle]).document) <= left else (low, middle)
    shorter = _until(entry, ends[low - 1]) if low else None
    return shorter if shorter is not None and len(shorter.document.page_content) >= SHORTEST else None


def _until(entry: Entry, end: int) -> Entry:
    left = entry.document.model_copy(update={"page_content": entry.document.page_content[:end].rstrip()})
    return Entry(entry.place, left, cut=True)
