"""All stages of one question in the order in which they ran, kind by kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Generic, NamedTuple, TypeVar, cast

from rag_probe.stages import (
    Answer,
    ContextAssembly,
    Filtering,
    Generation,
    Node,
    PermissionCheck,
    Rerank,
    Retrieval,
    ToolCall,
)
from rag_probe_collector.assembly.parts import Seen
from rag_probe_collector.dialects.reading import Unread
from rag_probe_collector.otlp.span import Span

S = TypeVar("S")

_PIPELINE: Final = (Node, Retrieval, Rerank, Filtering, PermissionCheck, ContextAssembly, Generation, ToolCall, Answer)
"""Decides only between stages with the same start, depth and end."""
_PLACE: Final[dict[type, int]] = {kind: place for place, kind in enumerate(_PIPELINE)}


class Ran(NamedTuple, Generic[S]):
    """A stage and the span that it was read from."""

    span: Span
    stage: S
    within: Span | None = None
    """The outermost retrieval above it."""


class Record:
    """What the spans of one question say."""

    def __init__(self, *parts: Sequence[Seen]) -> None:
        """Sort each part by start; of spans that start together the outer comes first, then the one that ends first."""
        self._kinds: dict[type, list[Ran[object]]] = {}
        for seen in parts:
            for span, _, reading, within in sorted(seen, key=_order):
                self._kinds.setdefault(type(reading), []).append(Ran(span, reading, within))

    def of(self, kind: type[S]) -> Sequence[Ran[S]]:
        """The stages of one kind, oldest first."""
        return cast("Sequence[Ran[S]]", self._kinds.get(kind, ()))

    def unread(self) -> list[str]:
        """Fields of the path that a stage was to fill but whose list was not captured."""
        return [ran.stage.field for ran in self.of(Unread)]


def _order(seen: Seen) -> tuple[int, int, int, int, str]:
    span = seen.span
    return span.start, seen.depth, span.end, _PLACE.get(type(seen.reading), 0), span.span_id
