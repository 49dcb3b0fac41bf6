"""The default estimate, calibrated by what the model itself counted for the very prompt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

from rag_probe_langchain.tokens import ESTIMATE, Tokenizer

NAME: Final = "estimate:calibrated"
"""Still an estimate: a passage's share of the prompt's size, of the input tokens that the model reported."""

_SHORTEST: Final = 1_000
"""Bytes under which the tokens of a prompt's frame weigh too much."""
_LEAST, _MOST = 1.5, 8.0
"""Bytes per token. Outside of these the tokens were not of this text alone: every script lies well within."""
_BESIDE: Final = frozenset(
    {
        "tools",
        "functions",
        "tool_config",
        "toolConfig",
        "response_format",
        "output_config",
        "cached_content",
        "previous_response_id",
        "conversation",
    }
)
"""Parameters of a call by which a model is given more than the prompt's text."""


def has_more_than_text(parameters: Mapping[object, object]) -> bool:
    """Whether the call gives the model tools, a schema or a past, which count as input tokens too."""
    return not _BESIDE.isdisjoint(parameters) and any(parameters.get(key) for key in _BESIDE)


def calibrated(text: str, input_tokens: int | None) -> Tokenizer:
    """In place of the default estimate the one that a call's own usage gives, where `text` is all that it was asked.

    Nothing is remembered from call to call: the same call gives the same figures, whatever came before.
    """
    if not input_tokens:
        return ESTIMATE
    size = _size(text)
    if size < _SHORTEST or not _LEAST <= size / input_tokens <= _MOST:
        return ESTIMATE
    return Tokenizer(NAME, partial(_share, input_tokens, size), partial(_shares, input_tokens, size))


def _share(tokens: int, size: int, part: str) -> int:
    return -(-_size(part) * tokens // size)


def _shares(tokens: int, size: int, parts: Sequence[str]) -> tuple[int, ...]:
    if all(map(str.isascii, parts)):
        return tuple([-(-len(part) * tokens // size) for part in parts])
    return tuple([_share(tokens, size, part) for part in parts])


def _size(text: str) -> int:
    """Bytes of UTF-8: they are nearer to tokens than characters are, in scripts with many characters."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
