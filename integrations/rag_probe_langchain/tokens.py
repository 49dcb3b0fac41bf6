"""What counts tokens, and under which name the figures are recorded. No tokenizer is ever loaded unasked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Tokenizer:
    """Counts the tokens of a text. `name` says how, and is recorded beside every figure."""

    name: str
    count: Callable[[str], int]


def _quarter(text: str) -> int:
    return (len(text) + 3) // 4


ESTIMATE: Final = Tokenizer("estimate:chars/4", _quarter)
"""A token for every four characters begun: the default, an estimate that says so."""


def counts(tokenizer: Tokenizer, texts: Sequence[str]) -> tuple[int, ...]:
    """The tokens of each text; the estimate, which is a sum, without a call for each."""
    if tokenizer is ESTIMATE:
        return tuple([(len(text) + 3) // 4 for text in texts])
    return tuple(map(tokenizer.count, texts))


def tokenizer_of(given: Tokenizer | Callable[[str], int] | None) -> Tokenizer:
    """`given`, named after itself when it is a bare function; the estimate when there is none."""
    if given is None:
        return ESTIMATE
    if isinstance(given, Tokenizer):
        return given
    name: object = getattr(given, "name", None) or getattr(given, "__qualname__", None) or type(given).__qualname__
    return Tokenizer(str(name), given)
