"""Finds chunks that stand in the prompt as they are.

Prompt builders put chunks one behind the other with the same kind of separator, so a chunk that was found leads to the
next one: only the first of such a row has to be searched for.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import chain

from rag_probe_langchain.locating.places import Place, Range, Work, gaps

ANCHOR = 16
"""Texts shorter than this occur by chance: they count only where they stand alone."""

_SHORT_RANGE, _SHORT_HEAD, _LONG_HEAD = 6_000, 32, 128
_REACH = 200
"""How far behind a chunk the next one may begin, so that a header of that length is passed."""

_TOKEN = re.compile(r"\w+|[^\w\s]")
_SPACES = " \t"
_STEP = 2_000


def place_whole(prompt: str, texts: Sequence[str], work: Work) -> list[Place]:
    """Every place where a text of `texts` stands whole in `prompt`, sorted by start.

    `texts` are distinct, stripped and not empty, in the order in which they are expected. A text that occurs only
    inside the place of a longer one has none; texts that merely overlap (sliding windows printed as one) have theirs.
    A text may have several. Stops early when `work` is used up.
    """
    if not texts:
        return []
    walk = _Walk(prompt, sorted(texts, key=len, reverse=True), work)
    absent: set[str] = set()
    for text in texts:
        if walk.seek(text, 0, len(prompt)) >= 0:
            break
        absent.add(text)
    if len(walk.placed) < len(texts) or walk.wide_gaps():
        walk.seek_all(absent)
    return walk.places


class _Walk:
    """One pass over one prompt. Between calls, `places` is sorted and no place of it lies inside another."""

    __slots__ = ("_anchors", "_lead", "_prompt", "_rivals", "_separator", "_texts", "_work", "placed", "places")

    def __init__(self, prompt: str, longest_first: list[str], work: Work) -> None:
        self.places: list[Place] = []
        self.placed: set[str] = set()
        self._prompt = prompt
        self._texts = longest_first
        self._work = work
        self._separator, self._lead = 0, ""
        self._anchors = {text[:ANCHOR]: text for text in longest_first if len(text) >= ANCHOR}
        self._rivals = _rivals(longest_first) if len(self._anchors) < len(longest_first) else None

    def seek_all(self, absent: set[str]) -> None:
        """Places texts without a place anywhere, the others in the gaps; longest first, as one may contain another."""
        count = -1
        wide: list[Range] = []
        for text in self._texts:
            if text not in self.placed:
                if text not in absent:
                    self._seek_every(text, 0, len(self._prompt))
                continue
            if count != len(self.places):
                count, wide = len(self.places), self.wide_gaps()
            for start, end in wide:
                self._seek_every(text, start, end)

    def wide_gaps(self) -> list[Range]:
        """The ranges without a place that have room for the shortest text."""
        return gaps(self.places, len(self._prompt), len(self._texts[-1]))

    def _seek_every(self, text: str, start: int, end: int) -> None:
        while start >= 0:
            start = self.seek(text, start, end)

    def seek(self, text: str, start: int, end: int) -> int:
        """Places `text` where it first stands in the range and in no place, with the row of chunks behind it.

        Returns where `text` ends there, or -1.
        """
        while start + len(text) <= end:
            at = _find(self._prompt, text, start, end)
            if not self._work.spend((at if at >= 0 else end) - start + _STEP) or at < 0:
                break
            enclosing = self._enclosing(at, at + len(text))
            if enclosing:
                start = enclosing[1] - len(text) + 1
            elif len(text) < ANCHOR and not _stands_alone(self._prompt, at, at + len(text)):
                start = at + 1
            else:
                self._insert(self._row(at, text))
                return at + len(text)
        return -1

    def _enclosing(self, start: int, end: int) -> Place | None:
        # No place lies inside another, so ends rise with starts: only the last that begins in time can reach so far.
        before = bisect_left(self.places, (start + 1, 0, "")) - 1
        return self.places[before] if before >= 0 and end <= self.places[before][1] else None

    def _insert(self, row: list[Place]) -> None:
        first = last = bisect_left(self.places, (row[0][0], 0, ""))
        while last < len(self.places) and self.places[last][1] <= row[-1][1]:
            self.placed.discard(self.places[last][2])
            last += 1
        self.places[first:last] = row
        self.placed.update([text for _, _, text in row])

    def _row(self, at: int, text: str) -> list[Place]:
        """The chunk at `at` and those that follow it up to the next place, as many as there are texts."""
        prompt, anchored, rivals, separator = self._prompt, self._anchors.get, self._rivals, self._separator
        stop = self._next_place(at)
        end = at + len(text)
        row = [(at, end, text)]
        for _ in range(len(self._texts) - 1):
            at = end + separator
            following = anchored(prompt[at : at + ANCHOR])
            if following is None or at >= stop or rivals or not prompt.startswith(following, at):
                place = self._near(end, stop)
                if place is None:
                    break
                at, following = place
                separator, self._lead = at - end, prompt[max(end, at - 2) : at]
            end = at + len(following)
            row.append((at, end, following))
        self._separator = separator
        self._work.spend(_STEP * len(row))
        return row

    def _next_place(self, at: int) -> int:
        after = bisect_left(self.places, (at, 0, ""))
        return self.places[after][0] if after < len(self.places) else len(self._prompt)

    def _near(self, start: int, stop: int) -> tuple[int, str] | None:
        """A text that begins within reach of `start`: after the same signs as the last one, else at a word or sign."""
        self._work.spend(_STEP)
        stop = min(start + _REACH, stop)
        for at in chain(
            self._after_lead(start, stop), (token.start() for token in _TOKEN.finditer(self._prompt, start, stop))
        ):
            if text := self._beginning_at(at):
                return at, text
        return None

    def _after_lead(self, start: int, stop: int) -> Iterator[int]:
        at = start
        while self._lead and (at := self._prompt.find(self._lead, at, stop)) >= 0:
            at += len(self._lead)
            yield at

    def _beginning_at(self, at: int) -> str | None:
        anchor = self._prompt[at : at + ANCHOR]
        if self._rivals:
            rivals = self._rivals.get(anchor, [])
            self._work.spend(_STEP * len(rivals))
            return next((text for text in rivals if self._prompt.startswith(text, at)), None)
        text = self._anchors.get(anchor)
        return text if text and self._prompt.startswith(text, at) else None


def _rivals(longest_first: list[str]) -> dict[str, list[str]]:
    """The texts that begin alike, by their beginning."""
    rivals: dict[str, list[str]] = {}
    for text in longest_first:
        if len(text) >= ANCHOR:
            rivals.setdefault(text[:ANCHOR], []).append(text)
    return rivals


def _find(prompt: str, text: str, start: int, end: int) -> int:
    """As `str.find`, by the text's head first, of a length that is fast: whole chunks cost several times as much."""
    head = text[: _SHORT_HEAD if end - start < _SHORT_RANGE else _LONG_HEAD]
    at = prompt.find(head, start, end)
    if at < 0 or prompt.startswith(text, at, end):
        return at
    return prompt.find(text, at + 1, end)


def _stands_alone(prompt: str, start: int, end: int) -> bool:
    """Whether no word is next to the range, on the same line."""
    before = prompt[max(0, start - 8) : start].rstrip(_SPACES)[-1:]
    behind = prompt[end : end + 8].lstrip(_SPACES)[:1]
    return not before.isalnum() and not behind.isalnum()
