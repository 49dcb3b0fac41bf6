"""The usual prompt, known at a glance: every text whole, once, one behind the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Final, NamedTuple

from rag_probe_langchain.locating.locate import LONGEST_PROMPT

SHORTEST: Final = 64
"""Characters below which a text may stand somewhere by chance: left to `locate`."""
LEAST: Final = 12
"""Characters by which a text is recognised where nobody expects it."""
_HEAD: Final = 32
_HEAD_OF: Final[Callable[[str], str]] = itemgetter(slice(_HEAD))


class InOrder(NamedTuple):
    """Where the first text stands, and the parts of the prompt around the texts in which one more might."""

    start: int
    end: int
    rest: str
    """A line each; without separators too short to hold anything."""


def in_order(prompt: str, texts: Sequence[str]) -> InOrder | None:
    """Whether `texts` stand in `prompt` whole, each once, in this order; then `locate` would find just these places.

    None says nothing but that `locate` has to look: also for texts that are short, or end in whitespace.
    """
    if not texts or len(prompt) > LONGEST_PROMPT or list(map(str.strip, texts)) != list(texts):
        return None
    heads = list(map(_HEAD_OF, texts))
    sizes = list(map(len, texts))
    if min(sizes) < SHORTEST or len(set(heads)) < len(heads):  # texts that begin alike may stand in several ways
        return None
    first = prompt.find(heads[0])
    rest = [prompt[:first]]
    stands = prompt.startswith  # bound once: what follows is done for every passage of every prompt
    at, gap = first, 0
    for text, size in zip(texts, sizes, strict=True):
        start = at + gap  # as far behind the last one as that was behind its own: only the first have to be looked for
        if not stands(text, start):
            start = prompt.find(text[:_HEAD], at)
            gap = start - at
            if not stands(text, start):
                return None
        if gap >= LEAST:
            rest.append(prompt[at:start])
        at = start + size
    rest.append(prompt[at:])
    left = "\n".join(rest)
    return None if any(map(left.__contains__, heads)) else InOrder(first, first + sizes[0], left)
