"""Citation markers in the text of an answer: `[1]`, `[1, 2]`, `[doc-7]`, `【1†source】`, `<co: 1>`, `(doc-7)`.

Ordinary brackets are no citations: notes (`[sic]`), check boxes, Markdown links and footnotes, index expressions, code.
Where a marker would be one but for what it names, `Citable` decides.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import islice
from typing import Final

from rag_probe_langchain.citing.citable import Citable, Cited
from rag_probe_langchain.citing.code_ranges import code_ranges
from rag_probe_langchain.citing.marker_names import Name, names_in
from rag_probe_langchain.locating.places import Range

LONGEST_ANSWER: Final = 200_000
"""Code points of an answer that are looked at."""

MOST_MARKERS: Final = 2_000

_INNER: Final = r"{1,300}"
_MARKER: Final = re.compile(
    rf"\[([^\[\]\n]{_INNER})\]|【([^【】\n]{_INNER})】|<co:([^<>\n]{_INNER})>|\(([^()\n]{_INNER})\)", re.IGNORECASE
)
_SQUARE, _LENTICULAR, _TAG, _ROUND = 1, 2, 3, 4
_SIGNS: Final = ("[", "(", "【", "<co:", "<CO:")
_DAGGER: Final = "†"
_WORD_END: Final = re.compile(r"[,;|\s]+")

_CODE_BEFORE: Final = re.compile(r"(?:\b[a-z]|\w*_\w*)\Z")
_CODE_BEHIND: Final = re.compile(r"\s*=|\.[a-z]")
_LONGEST_WORD: Final = 40
_DEFINITION: Final = re.compile(r":\s*(?:https?:|<|/)")


def marked(text: str, citable: Citable) -> Iterator[Cited]:
    """The citations that markers in `text` make, in order; one for each id of a marker, all with the marker's place."""
    text = text[:LONGEST_ANSWER]
    if not any(sign in text for sign in _SIGNS):
        return
    code = code_ranges(text)
    for match in islice(_MARKER.finditer(text), MOST_MARKERS):
        start = match.start()
        if not code and match.lastindex == _SQUARE and text[start - 1 : start] == " ":  # ` [2]`, the usual one
            passage = citable.counted(match[_SQUARE])
            if passage is not None:
                yield Cited(id=passage, marker=match[0], start=start, end=match.end(), valid=True)
                continue
        for name in _names(match, text, code, citable):
            yield Cited(id=name.id, marker=match[0], start=match.start(), end=match.end(), valid=name.valid)


def _names(match: re.Match[str], text: str, code: list[Range], citable: Citable) -> list[Name]:
    kind = match.lastindex or 0
    inner = match[kind]
    if kind == _TAG:
        return names_in(inner, citable) or [Name(inner.strip(), valid=False, written=inner)]
    if kind == _LENTICULAR and _DAGGER in inner:
        return _assistant_names(inner, citable)
    if kind == _ROUND:
        return _names_in_round(inner, citable)
    if kind == _SQUARE and _is_markup(match, text):
        return []
    names = names_in(inner, citable)
    within = bisect_right(code, match.span()) - 1
    if within >= 0 and match.start() < code[within][1]:
        return [name for name in names if name.valid and not name.counted]
    if kind == _SQUARE and text.startswith("(", match.end()):
        return [name for name in names if name.counted or citable.known(name.id)]
    return names


def _names_in_round(inner: str, citable: Citable) -> list[Name]:
    """Round brackets are ordinary text, unless they hold an id that is known, spelled exactly."""
    if not citable.known(inner) and not any(map(citable.known, _WORD_END.split(inner))):
        return []
    written = [name for name in names_in(inner, citable) if not name.counted]
    return written if any(citable.known(name.id) for name in written) else []


def _assistant_names(inner: str, citable: Citable) -> list[Name]:
    """`1†source`, `4:0†handbook.md`: a number or a name, on either side of the dagger."""
    number, _, source = inner.partition(_DAGGER)
    return names_in(number, citable) or names_in(source, citable) or [Name(inner, valid=False, written=inner)]


def _is_markup(match: re.Match[str], text: str) -> bool:
    """Whether square brackets are an image, an escape, a footnote, the definition of a link, or index an expression."""
    start, end = match.span()
    if start and text[start - 1] == " ":  # the usual place, where only a footnote is possible
        return match[0].startswith("[^")
    before = text[max(0, start - _LONGEST_WORD) : start]
    is_image = before.endswith("!") and text.startswith("(", end)
    if is_image or before.endswith("\\") or match[0].startswith("[^"):
        return True
    if (not before or before.endswith("\n")) and _DEFINITION.match(text, end):
        return True
    attached = before[-1:].isalnum() or before.endswith("_")
    return attached and bool(_CODE_BEFORE.search(before) or _CODE_BEHIND.match(text, end))
