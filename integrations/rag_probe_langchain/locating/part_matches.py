"""Where a squeezed text, or its beginning or end, stands in a squeezed prompt (squeezed: without whitespace)."""

from collections.abc import Iterator
from typing import NamedTuple

from rag_probe_langchain.locating.places import Range, Work
from rag_probe_langchain.locating.squeezed_texts import SqueezedTexts

_MARKER = 64
"""How much may stand between a text's beginning and its end: `… [1,200 characters left out] …`."""

_CANDIDATES = 8


class Match(NamedTuple):
    """A range of the squeezed prompt, and the ranges of the squeezed text that it begins and ends with."""

    at: int
    end: int
    kept: tuple[Range, ...]
    whole: bool


def matches(prompt: str, text: str, texts: SqueezedTexts, work: Work) -> list[Match]:
    """The first few places where the form of `text` stands in `prompt`: whole, or its beginning (and perhaps its end).

    Where there is none, those where its end stands. No line break is passed between beginning and end: parts from
    different ranges of a `Squeezed` are never joined. A beginning or an end that another text also has tells nothing.
    """
    ends = texts.ends(text)
    if not ends:
        return []
    head, tail = ends
    begun = [_from_beginning(prompt, at, texts.form(text), tail) for at in _occurrences(prompt, head, work)]
    own = [match for match in begun if match.whole or texts.only_one_begins(texts.form(text)[: match.kept[0][1]])]
    if own:
        return own
    ended = [_from_end(prompt, at + len(tail), texts.form(text)) for at in _occurrences(prompt, tail, work)]
    return [match for match in ended if texts.only_one_ends(texts.form(text)[match.kept[0][0] :])]


def _occurrences(prompt: str, probe: str, work: Work) -> Iterator[int]:
    at = -1
    for _ in range(_CANDIDATES):
        if not work.spend(len(prompt) - at):
            return
        at = prompt.find(probe, at + 1)
        if at < 0:
            return
        yield at


def _from_beginning(prompt: str, at: int, form: str, tail_probe: str) -> Match:
    head = _shared(form, prompt[at : at + len(form)])
    behind, rest = at + head, form[head:]
    if not rest:
        return Match(at, behind, ((0, head),), whole=True)
    last = prompt.find(tail_probe, behind, behind + _MARKER + len(rest)) if len(rest) >= len(tail_probe) else -1
    if last >= 0:
        end = last + len(tail_probe)
        tail = _shared(rest[::-1], prompt[behind:end][::-1])
        marker = prompt[behind : end - tail]
        if len(marker) <= _MARKER and "\n" not in marker:
            return Match(at, end, ((0, head), (len(form) - tail, len(form))), whole=head + tail == len(form))
    return Match(at, behind, ((0, head),), whole=False)


def _from_end(prompt: str, end: int, form: str) -> Match:
    tail = _shared(form[::-1], prompt[max(0, end - len(form)) : end][::-1])
    return Match(end - tail, end, ((len(form) - tail, len(form)),), whole=tail == len(form))


def _shared(one: str, other: str) -> int:
    """How many characters the beginnings of both have in common."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
