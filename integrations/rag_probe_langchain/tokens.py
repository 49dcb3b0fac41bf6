"""What counts tokens, and under which name the figures are recorded. No tokenizer is ever loaded unasked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import index
from typing import Final

from rag_probe.faults import log_once


@dataclass(frozen=True, slots=True)
class Tokenizer:
    """Counts the tokens of a text. `name` says how, and is recorded beside every figure."""

    name: str
    count: Callable[[str], int]
    count_all: Callable[[Sequence[str]], tuple[int, ...]] | None = None
    """The same for many texts, where that is cheaper than a call for each."""


def _quarter(text: str) -> int:
    return (len(text) + 3) // 4


def _quarters(texts: Sequence[str]) -> tuple[int, ...]:
    return tuple([(len(text) + 3) // 4 for text in texts])


ESTIMATE: Final = Tokenizer("estimate:chars/4", _quarter, _quarters)
"""A token for every four characters begun: the default, an estimate that says so."""


def counts(tokenizer: Tokenizer, texts: Sequence[str]) -> tuple[int, ...]:
    """The tokens of each text; `()` when the app's tokenizer fails or gives no figures: then nothing is said of any."""
    count_all = tokenizer.count_all
    try:
        figures = tuple(map(index, map(tokenizer.count, texts) if count_all is None else count_all(texts)))
    except Exception as error:  # the app's own hook: what else is known of the passages is recorded all the same
        log_once("tokenizer=", error)
        return ()
    return figures if len(figures) == len(texts) and min(figures, default=0) >= 0 else ()


def tokenizer_of(given: Tokenizer | Callable[[str], int] | None) -> Tokenizer:
    """`given`, named after itself when it is a bare function; the estimate when there is none.

    A `TypeError` for what counts nothing, as the name of an encoding.
    """
    if given is None:
        return ESTIMATE
    if isinstance(given, Tokenizer):
        return given
    if not callable(given):
        raise TypeError(f"tokenizer=: expected a function from a text to its tokens, or a Tokenizer, found {given!r}")
    name: object = getattr(given, "name", None) or getattr(given, "__qualname__", None) or type(given).__qualname__
    return Tokenizer(str(name), given)
