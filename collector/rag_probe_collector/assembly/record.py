"""All stages of one question in the order in which they ran, kind by kind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Generic, NamedTuple, TypeVar, assert_never

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
from rag_probe_collector.dialects.reading import Unread, Workflow
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


@dataclass(frozen=True, slots=True)
class Record:
    """What the spans of one question say. Filled once by `record`."""

    retrievals: list[Ran[Retrieval]] = field(default_factory=list[Ran[Retrieval]])
    reranks: list[Ran[Rerank]] = field(default_factory=list[Ran[Rerank]])
    filters: list[Ran[Filtering]] = field(default_factory=list[Ran[Filtering]])
    permissions: list[Ran[PermissionCheck]] = field(default_factory=list[Ran[PermissionCheck]])
    contexts: list[Ran[ContextAssembly]] = field(default_factory=list[Ran[ContextAssembly]])
    generations: list[Ran[Generation]] = field(default_factory=list[Ran[Generation]])
    tools: list[Ran[ToolCall]] = field(default_factory=list[Ran[ToolCall]])
    answers: list[Ran[Answer]] = field(default_factory=list[Ran[Answer]])
    nodes: list[Ran[Node]] = field(default_factory=list[Ran[Node]])
    unread: list[str] = field(default_factory=list[str])
    """Fields of the path that a stage was to fill but whose list was not captured."""

    def timed(self) -> Iterator[tuple[str, Sequence[Span]]]:
        """The spans of each kind that takes time, as the path's `stage_latency_ms` names it."""
        for kind, runs in (
            ("retrieval", self.retrievals),
            ("rerank", self.reranks),
            ("filter", self.filters),
            ("permission", self.permissions),
            ("context", self.contexts),
            ("generation", self.generations),
            ("tool", self.tools),
        ):
            if runs:
                yield kind, [ran.span for ran in runs]


def record(seen: Sequence[Seen]) -> Record:  # noqa: C901  # one arm for each kind
    """Sort by start; of spans that start together the outer one comes first, then the one that ends first."""
    out = Record()
    for span, _, reading, within in sorted(seen, key=_order):
        match reading:
            case Generation():
                out.generations.append(Ran(span, reading, within))
            case Retrieval():
                out.retrievals.append(Ran(span, reading, within))
            case Filtering():
                out.filters.append(Ran(span, reading, within))
            case PermissionCheck():
                out.permissions.append(Ran(span, reading, within))
            case Rerank():
                out.reranks.append(Ran(span, reading, within))
            case ContextAssembly():
                out.contexts.append(Ran(span, reading, within))
            case Node():
                out.nodes.append(Ran(span, reading, within))
            case ToolCall():
                out.tools.append(Ran(span, reading, within))
            case Answer():
                out.answers.append(Ran(span, reading, within))
            case Unread():
                out.unread.append(reading.field)
            case Workflow() | None:
                pass
            case _:
                assert_never(reading)
    return out


def _order(seen: Seen) -> tuple[int, int, int, int, str]:
    span = seen.span
    return span.start, seen.depth, span.end, _PLACE.get(type(seen.reading), 0), span.span_id
