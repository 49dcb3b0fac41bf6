"""The usual prompt, known at a glance: every text whole, once, one behind the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from rag_probe_langchain.locating.locate import LONGEST_PROMPT

SHORTEST: Final = 64
"""Characters below which a text may stand somewhere by chance: left to `locate`."""
_HEAD: Final = 32


class InOrder(NamedTuple):
    """Where the first text stands, and what is left of the prompt without the texts, a line break for each."""

    start: int
    end: int
    rest: str


def in_order(prompt: str, texts: Sequence[str]) -> InOrder | None:
    """Whether `texts` stand in `prompt` whole, each once, in this order; then `locate` would find just these places.

    None says nothing but that `locate` has to look: also for texts that are short, or end in whitespace.
    """
    if not texts or len(prompt) > LONGEST_PROMPT or len(min(texts, key=len)) < SHORTEST:
        return None
    heads = [text[:_HEAD] for text in texts]
    if len(set(heads)) < len(heads):  # texts that repeat or continue one another may stand in several ways
        return None
    rest: list[str] = []
    first = at = 0
    for text, head in zip(texts, heads, strict=True):
        start = prompt.find(head, at)
        if start >= 0 and not prompt.startswith(text, start):
            start = prompt.find(text, at)
        if start < 0 or text[0].isspace() or text[-1].isspace():
            return None
        first = first if rest else start
        rest.append(prompt[at:start])
        at = start + len(text)
    rest.append(prompt[at:])
    left = "\n".join(rest)
    for head in heads:
        if head in left:
            return None
    return InOrder(first, first + len(texts[0]), left)
