"""What stands inside a citation marker: numbers, ranges and ids, alone or listed, perhaps with a word before them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from rag_probe_langchain.citing.citable import Citable

_LEAD: Final = re.compile(
    r"(?:see|cf\.?|from|per|(?:document|doc|source|src|reference|ref|chunk|passage|context|citation|cite|id)s?)"
    r"(?:\s*[:#]\s*|\s+(?:no\.?\s+|id\s*[:=]?\s+)?)(?=\S)",
    re.IGNORECASE,
)
"""`[Source 2]`, `[doc: leave-eligibility]`: a word before the number or id. Then also `[Source 2: The handbook]`."""

_TITLED: Final = re.compile(r"(\d{1,3})\s*[:.]\s+\D.*")
_COMMA: Final = re.compile(r"\s*[,;|]\s*|\s+(?:and|&)\s+")
_SPAN: Final = re.compile(r"(\d{1,3})\s*[-–—]\s*(\d{1,3})")
_LONGEST_SPAN: Final = 20


class Name(NamedTuple):
    """One thing that a marker names."""

    id: str
    """Of the passage it resolves to, else as written."""
    valid: bool
    written: str

    @property
    def counted(self) -> bool:
        """Whether it is a number, which ordinary text has in brackets too."""
        return self.written.isdecimal()


def names_in(inner: str, citable: Citable) -> list[Name]:
    """What the inside of a marker names. Empty when it is ordinary text.

    When only a part of a list names something, numbers in it are none (`[Smith, 12]`), and text has to resolve.
    """
    inner = inner.strip()
    if name := _resolved(inner, citable):
        return [name]
    listed = _without_lead(inner)
    if listed != inner and (titled := _TITLED.fullmatch(listed)):
        listed = titled[1]
    parts = [_part(part, citable) for part in _COMMA.split(listed) if part]
    names = [name for part in parts for name in part]
    if all(parts):
        return names
    return [name for name in names if not name.counted and citable.known(name.id)]


def _part(written: str, citable: Citable) -> list[Name]:
    text = _without_lead(written)
    if name := _resolved(text, citable):
        return [name]
    if (span := _SPAN.fullmatch(text)) and 0 <= int(span[2]) - int(span[1]) <= _LONGEST_SPAN:
        return list(_spanned(int(span[1]), int(span[2]), citable))
    name = _resolved(text, citable)
    if name is None and citable.looks_like_id(text):
        name = Name(text, valid=False, written=text)
    return [name] if name else []


def _spanned(first: int, last: int, citable: Citable) -> Iterator[Name]:
    for number in map(str, range(first, last + 1)):
        if name := _resolved(number, citable):
            yield name


def _resolved(text: str, citable: Citable) -> Name | None:
    resolved = citable.resolve(text)
    return Name(*resolved, text) if resolved else None


def _without_lead(text: str) -> str:
    lead = _LEAD.match(text)
    return text[lead.end() :] if lead else text
