"""Texts that a prompt builder changed or cut, in whatever way it also wrote them: as they are, quoted, or escaped."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from rag_probe_langchain.locating.escapes import Escape, escapes_in, unescaped
from rag_probe_langchain.locating.parts import Part, place_parts
from rag_probe_langchain.locating.places import Range, Work
from rag_probe_langchain.locating.squeezed import Squeezed

_PREFIX: Final = re.compile(r"^(?:[ \t]*(?:[>|]|(?:#+|//|[-*•])(?=[ \t]|$)))+", re.MULTILINE)
"""What stands before each line of a quotation, a comment or a list."""
_WRITE_COST: Final = 16


class _Way(NamedTuple):
    """A way of writing, and the ranges of the prompt to be searched, written in it."""

    squeezed: Squeezed
    write: Escape
    keeps_length: bool
    """Whether a place in a text is the same place in its form."""


def place_changed(
    prompt: str, ranges: Sequence[Range], texts: Sequence[str], all_texts: Collection[str], work: Work
) -> list[Part]:
    """The places of `texts` within `ranges` of the prompt; per text, by the way that explains most of it."""
    best: dict[str, list[Part]] = {}
    for way in _ways(prompt, ranges) if ranges else ():
        left = [text for text in texts if not _is_whole(best.get(text, ()))]
        if left and work.spend(_WRITE_COST * sum(map(len, all_texts))):
            _better(best, _placed(way, left, all_texts, work))
    return _apart([part for parts in best.values() for part in parts])


def _ways(prompt: str, ranges: Sequence[Range]) -> Iterator[_Way]:
    squeezed = Squeezed.of(prompt, ranges)
    yield _Way(squeezed, str, keeps_length=True)
    bare = _without_prefixes(prompt)
    if bare != prompt:
        yield _Way(Squeezed.of(bare, ranges), _without_prefixes, keeps_length=True)
    for write in escapes_in(prompt):
        yield _Way(squeezed, write, keeps_length=False)


def _placed(way: _Way, texts: Sequence[str], all_texts: Collection[str], work: Work) -> Iterator[Part]:
    if not way.keeps_length:
        texts = [text for text in texts if way.write(text) != text]
    text_of = {way.write(text): text for text in texts}
    forms = list(dict.fromkeys(map(way.write, all_texts)))
    for part in place_parts(way.squeezed, list(text_of), forms, work) if text_of else ():
        text, kept = text_of[part.text], part.kept
        if not way.keeps_length:
            kept = tuple([unescaped(each, text, way.write) for each in kept])
        yield Part(part.start, part.end, text, kept)


def _without_prefixes(text: str) -> str:
    """`text` with blanks in their place."""
    return _PREFIX.sub(lambda found: " " * len(found[0]), text)


def _better(best: dict[str, list[Part]], found: Iterable[Part]) -> None:
    news: dict[str, list[Part]] = {}
    for part in found:
        news.setdefault(part.text, []).append(part)
    for text, parts in news.items():
        if _length(parts) > _length(best.get(text, ())):
            best[text] = parts


def _length(parts: Sequence[Part]) -> int:
    return sum([end - start for part in parts for start, end in part.kept])


def _is_whole(parts: Sequence[Part]) -> bool:
    return any(part.kept == ((0, len(part.text)),) for part in parts)


def _apart(parts: list[Part]) -> list[Part]:
    """Without parts that overlap one that explains more; whole texts may overlap, as sliding windows do."""
    kept: list[Part] = []
    for part in sorted(parts, key=lambda part: (_is_whole((part,)), _length((part,))), reverse=True):
        if _is_whole((part,)) or not any(part.start < other.end and other.start < part.end for other in kept):
            kept.append(part)
    return kept
