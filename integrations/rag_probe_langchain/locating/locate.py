"""Which chunks reached the prompt, in which order, whole or cut. Pure: texts in, positions out.

Found are, in this order: chunks that stand in the prompt as they are; chunks that an escape changed (JSON, HTML, the
repr of a list of documents); chunks whose whitespace was changed or that were cut, in what the others left unexplained.

- Whitespace at either end of a chunk does not count. A blank chunk is never found; one shorter than 16 code points only
  where it stands alone, with no word beside it on its line.
- Of a cut chunk the beginning, the end, or both are recognised. A part counts from 32 characters on (whitespace not
  counted), for chunks shorter than 64 from half of the chunk on, never below 16; and never when another chunk begins
  (or ends) with the same characters.
- A chunk whose text occurs only inside another chunk's place is not found: the other one explains it. Chunks that
  merely overlap there (sliding windows printed as one text) are both found.
- A chunk that stands in the prompt twice is found twice. Of chunks with identical texts, the first takes the first
  place, the second the second; those left over share the last place, since their text is there as well.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rag_probe_langchain.locating.changed import place_changed
from rag_probe_langchain.locating.escapes import escapes_in, spellings
from rag_probe_langchain.locating.found import Found, assign
from rag_probe_langchain.locating.parts import Part
from rag_probe_langchain.locating.places import Place, Work, gaps
from rag_probe_langchain.locating.squeezed_texts import SHORTEST_TEXT
from rag_probe_langchain.locating.whole import place_whole

LONGEST_PROMPT = 400_000
"""Code points of a prompt that are looked at."""

_WORK = 40_000_000
_ESCAPE_COST = 64


@dataclass(frozen=True, slots=True)
class Located:
    """What was found, ordered by position in the prompt, then by index."""

    found: tuple[Found, ...]
    complete: bool
    """False when a limit ended the search: then what is missing from `found` may still be in the prompt."""


def locate(prompt: str, chunks: Sequence[str], question: str = "") -> Located:
    """Finds `chunks` in `prompt`. It helps when they come in the order in which the prompt is expected to have them.

    The question's last occurrence in the prompt is never taken for the beginning or end of a chunk (an entry of a FAQ).
    At most 400,000 code points of the prompt are searched, with bounded work; `complete` tells when that ended it.
    """
    searched, work = prompt[:LONGEST_PROMPT], Work(_WORK)
    texts = [chunk.strip() for chunk in chunks]
    distinct = [text for text in dict.fromkeys(texts) if text]
    places = place_whole(searched, distinct, work)
    parts: list[Part] = []
    if missing := _without(distinct, places):
        places = _outermost([*places, *_escaped(searched, missing, work)])
        if missing := _without(missing, places):
            asked = _last_place(question.strip(), searched)
            ranges = gaps(sorted([*places, *asked]), len(searched), SHORTEST_TEXT)
            parts = place_changed(searched, ranges, missing, distinct, work)
    found = assign(places, parts, texts, chunks)
    return Located(found, complete=work.left >= 0 and len(prompt) <= LONGEST_PROMPT)


def _without(texts: Iterable[str], places: Sequence[Place]) -> list[str]:
    placed = {text for _, _, text in places}
    return [text for text in texts if text not in placed]


def _escaped(prompt: str, texts: Sequence[str], work: Work) -> list[Place]:
    escapes = escapes_in(prompt)
    if not escapes or not work.spend(_ESCAPE_COST * sum(map(len, texts))):
        return []
    originals = {spelling: text for text in texts for spelling in spellings(text, escapes)}
    return [(start, end, originals[spelling]) for start, end, spelling in place_whole(prompt, list(originals), work)]


def _outermost(places: list[Place]) -> list[Place]:
    """`places` sorted by start, without those that lie inside another one."""
    kept: list[Place] = []
    for place in sorted(places, key=lambda place: (place[0], -place[1])):
        if not kept or place[1] > kept[-1][1]:
            kept.append(place)
    return kept


def _last_place(question: str, prompt: str) -> list[Place]:
    at = prompt.rfind(question) if len(question) >= SHORTEST_TEXT else -1
    return [(at, at + len(question), question)] if at >= 0 else []
