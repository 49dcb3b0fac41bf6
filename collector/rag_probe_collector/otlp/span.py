"""A span as the evaluator reads it, whatever it arrived in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from rag_probe import attributes as a
from rag_probe.attributes import Value

OTHER_ERROR: Final = "_OTHER"
"""What the conventions call an error without a type."""


class Resource(NamedTuple):
    """Who sent spans; one object for all spans of a message."""

    attributes: Mapping[str, Value]

    @property
    def service(self) -> str | None:
        """`service.name`."""
        name = self.attributes.get("service.name")
        return name if isinstance(name, str) else None


class SpanLink(NamedTuple):
    """A pointer at a span of this or another trace."""

    trace_id: str
    span_id: str


class Span(NamedTuple):
    """Ids in lower-case hex, instants in nanoseconds since the epoch; 0 is an instant that nobody recorded.

    Of a span that no dialect claims only ids, name, scope and times are known: it stands between others.
    """

    trace_id: str
    span_id: str
    parent_id: str | None
    name: str
    start: int
    end: int
    failed: bool
    local_parent: bool | None
    """Whether the parent is a span of the same process; None when the sender does not say."""
    scope: str
    resource: Resource
    attributes: Mapping[str, Value]
    links: tuple[SpanLink, ...]
    lost: int = 0
    """Attributes that its sender dropped, and those of ours that could not be read."""

    @property
    def latency_ms(self) -> float | None:
        """Raw: negative when the clock went back, None when an instant is missing."""
        return (self.end - self.start) / 1e6 if self.start and self.end else None

    @property
    def error(self) -> str | None:
        """The exception's type; None for a span that did not fail."""
        kind = self.attributes.get(a.ERROR_TYPE)
        if isinstance(kind, str) and kind:
            return kind
        return OTHER_ERROR if self.failed else None
