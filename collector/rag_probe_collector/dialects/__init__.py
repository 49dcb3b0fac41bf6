"""The registry of dialects: one file and one line here for each, in the order in which they are asked."""

from __future__ import annotations

from typing import Final

from rag_probe_collector.dialects.genai import GenAi
from rag_probe_collector.dialects.ours import Ours
from rag_probe_collector.dialects.reading import Dialect
from rag_probe_collector.otlp.decode import Interest
from rag_probe_collector.otlp.span import Span

__all__ = ["DIALECTS", "INTEREST", "OWN", "dialect_of"]

DIALECTS: Final[tuple[Dialect, ...]] = (Ours(), GenAi())

OWN: Final = DIALECTS[0]
"""Ours: where it and another tell of one question, it is the one that is read."""

INTEREST: Final = Interest(
    tuple(scope for dialect in DIALECTS for scope in dialect.interest.scopes),
    tuple(mark for dialect in DIALECTS for mark in dialect.interest.marks),
)
"""Which spans must keep their attributes for any dialect."""


def dialect_of(span: Span) -> Dialect | None:
    """The first dialect that claims the span."""
    if span.attributes:
        for dialect in DIALECTS:
            if dialect.claims(span):
                return dialect
    return None
