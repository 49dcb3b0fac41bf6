"""What a dialect makes of a span: the seam at which conventions of all kinds become our stages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeAlias

from rag_probe.stages import Node, Root, Stage
from rag_probe_collector.otlp.decode import Interest
from rag_probe_collector.otlp.span import Span


@dataclass(frozen=True, slots=True)
class Workflow:
    """A run that is no stage itself but holds some: a chain, a graph, an agent."""


@dataclass(frozen=True, slots=True)
class Unread:
    """A stage whose decisive list was not captured."""

    field: str
    """Of the path: `filtered`, `permissions`, `reranked`, `context`."""


Reading: TypeAlias = Stage | Node | Workflow | Unread


@dataclass(frozen=True, slots=True)
class Notes:
    """What a span says about its own completeness, by the path's fields."""

    inferred: tuple[str, ...] = ()
    not_captured: tuple[str, ...] = ()
    partial: bool = False


NO_NOTES = Notes()


class Dialect(Protocol):
    """An attribute convention. Nothing it reads may make it raise: attributes are hostile."""

    @property
    def name(self) -> str:
        """Of the registry, and of `source` in the path."""
        ...

    @property
    def interest(self) -> Interest:
        """Which spans must keep their attributes for this dialect."""
        ...

    @property
    def records(self) -> frozenset[str]:
        """Fields of the path whose stages are always recorded: what is not there did not happen.

        Of `retrievals`, `generations`, `tools`, `nodes`.
        """
        ...

    def claims(self, span: Span) -> bool:
        """Whether the span is written in this dialect."""
        ...

    def read(self, span: Span) -> Reading | None:
        """The span's meaning; None for plumbing, which has none."""
        ...

    def root(self, span: Span) -> Root:
        """What the span says as the outermost one of a question; `Root()` when it says nothing of the kind."""
        ...

    def notes(self, span: Span) -> Notes:
        """What the span says was inferred or not captured."""
        ...

    def source(self, graph: bool) -> str:
        """The path's `source`; `graph` tells whether there were graph nodes."""
        ...
