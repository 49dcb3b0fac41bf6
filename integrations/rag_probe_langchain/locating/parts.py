"""Finds chunks that the prompt builder changed: whitespace in another form; end, beginning or middle cut off."""

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from rag_probe_langchain.locating.part_matches import Match, matches
from rag_probe_langchain.locating.places import Range, Work
from rag_probe_langchain.locating.squeezed import Squeezed, unsqueeze
from rag_probe_langchain.locating.squeezed_texts import SqueezedTexts

_SQUEEZE_COST = 16


class Part(NamedTuple):
    """A place in the prompt, the text it is made of, and the ranges of that text that are there."""

    start: int
    end: int
    text: str
    kept: tuple[Range, ...]


def place_parts(squeezed: Squeezed, texts: Sequence[str], all_texts: Collection[str], work: Work) -> list[Part]:
    """The places of changed or cut `texts` within the squeezed ranges of the prompt, in no particular order.

    The match that explains most wins a place, and a cut text gets one place at most. A beginning or an end that a text
    shares with another of `all_texts` (a common header or footer) tells nothing and is not taken for that text.
    Stops early when `work` is used up.
    """
    if not work.spend(_SQUEEZE_COST * (len(squeezed.text) + sum(map(len, all_texts)))):
        return []
    forms = SqueezedTexts(all_texts)
    found = [(match, text) for text in texts for match in matches(squeezed.text, text, forms, work)]
    found.sort(key=_rank, reverse=True)
    return [_part(squeezed, match, text) for match, text in _without_overlap(found, len(squeezed.text))]


def _rank(found: tuple[Match, str]) -> tuple[bool, int, int]:
    match, _ = found
    return match.whole, sum(end - start for start, end in match.kept), -match.at


def _without_overlap(found: Sequence[tuple[Match, str]], length: int) -> Iterator[tuple[Match, str]]:
    """Those that keep their place: whole ones unless all of it is taken, others when none of it is, once per text."""
    taken = bytearray(length)
    placed: set[str] = set()
    for match, text in found:
        if match.whole:
            free = taken.find(0, match.at, match.end) >= 0
        else:
            free = text not in placed and taken.find(1, match.at, match.end) < 0
        if free:
            taken[match.at : match.end] = b"\1" * (match.end - match.at)
            placed.add(text)
            yield match, text


def _part(squeezed: Squeezed, match: Match, text: str) -> Part:
    kept = ((0, len(text)),) if match.whole else tuple(_original(text, start, end) for start, end in match.kept)
    return Part(squeezed.offset(match.at), squeezed.offset(match.end - 1) + 1, text, kept)


def _original(text: str, start: int, end: int) -> Range:
    return unsqueeze(text, start) if start else 0, unsqueeze(text, end - 1) + 1
