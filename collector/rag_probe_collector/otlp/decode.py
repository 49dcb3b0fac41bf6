"""An OTLP request in protobuf → spans: of all spans the skeleton, of those that a dialect claims the attributes too."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from heapq import nsmallest
from typing import Final, TypeAlias

from rag_probe.attributes import Value
from rag_probe_collector.otlp.schema import SpanMessage, parse_request
from rag_probe_collector.otlp.span import Resource, Span, SpanLink
from rag_probe_collector.otlp.values import Values

MAX_ATTRIBUTES: Final = 1_000
"""Of one span; of more, the first by name are read. SDKs stop at 128."""
MAX_LINKS: Final = 128
MISSED: Final = "spans of a dialect that is read came without a usable trace id or span id and were left out"

_ERROR: Final = 2
_OURS: Final = "rag."
_HAS_IS_REMOTE: Final = 0x100
_IS_REMOTE: Final = 0x200
_NO_TRACE: Final = bytes(16)
_NO_SPAN: Final = bytes(8)

_Rest: TypeAlias = tuple[bool, bool | None, Mapping[str, Value], tuple[SpanLink, ...], int]
"""What only a claimed span is read for: failed, local_parent, attributes, links, how many attributes were lost."""
_UNCLAIMED: Final[_Rest] = (False, None, {}, (), 0)


@dataclass(frozen=True, slots=True)
class Interest:
    """Which spans' attributes anybody reads."""

    scopes: tuple[str, ...]
    """Beginnings of instrumentation scope names."""
    marks: tuple[str, ...]
    """Attributes, any of which is enough."""


@dataclass(slots=True)
class SpanDecoder:
    """Decodes requests; holds a bounded memo of values, so that one decoder should serve a whole source."""

    interest: Interest
    rejected: int = 0
    """Spans left out so far because their ids were missing or of the wrong length."""
    missed: bool = False
    """Whether any of these would have been read: whatever question it belongs to has lost it."""
    _values: Values = field(default_factory=Values)

    def decode(self, body: bytes) -> list[Span]:
        """Spans in the order of the message; raises `google.protobuf.message.DecodeError`."""
        spans: list[Span] = []
        for sender in parse_request(body).resource_spans:
            resource = Resource(self._attributes(sender.resource.attributes))
            for group in sender.scope_spans:
                scope = group.scope.name
                ours = scope.startswith(self.interest.scopes)
                for message in group.spans:
                    span = self._span(message, scope, resource, ours)
                    if span is not None:
                        spans.append(span)
        return spans

    def _span(self, message: SpanMessage, scope: str, resource: Resource, ours: bool) -> Span | None:
        trace_id, span_id, parent = message.trace_id, message.span_id, message.parent_span_id
        if len(trace_id) != 16 or len(span_id) != 8 or trace_id == _NO_TRACE or span_id == _NO_SPAN:
            self.rejected += 1
            self.missed = self.missed or ours or self._is_marked(message.attributes)
            return None
        parent_id = parent.hex() if len(parent) == 8 and parent != _NO_SPAN else None
        attributes = message.attributes
        rest = self._claimed(message, attributes) if ours or self._is_marked(attributes) else _UNCLAIMED
        failed, local_parent, read, links, lost = rest
        return Span(
            trace_id.hex(),
            span_id.hex(),
            parent_id,
            message.name,
            message.start,
            message.end,
            failed,
            local_parent,
            scope,
            resource,
            read,
            links,
            lost,
        )

    def _claimed(self, message: SpanMessage, attributes: Mapping[str, bytes]) -> _Rest:
        flags, links, read = message.flags, message.links, self._attributes(attributes)
        return (
            message.status.code == _ERROR,
            not flags & _IS_REMOTE if flags & _HAS_IS_REMOTE else None,
            read,
            tuple([SpanLink(link.trace_id.hex(), link.span_id.hex()) for link in links[:MAX_LINKS]]) if links else (),
            message.lost if len(read) == len(attributes) else message.lost + _unread(attributes, read),
        )

    def _is_marked(self, attributes: Mapping[str, bytes]) -> bool:
        for mark in self.interest.marks:  # noqa: SIM110  # any() takes thrice as long, on every span of others
            if mark in attributes:
                return True
        return False

    def _attributes(self, attributes: Mapping[str, bytes]) -> Mapping[str, Value]:
        """Looks up by name: a protobuf map's `items()` is a generator in Python, which costs more than the look-up."""
        values = self._values
        names = attributes if len(attributes) <= MAX_ATTRIBUTES else nsmallest(MAX_ATTRIBUTES, attributes)
        return {name: value for name in names if (value := values[attributes[name]]) is not None}


def _unread(attributes: Iterable[str], read: Container[str]) -> int:
    """How many of ours are beyond the bound, or hold what none of ours can: what they had to say is lost as well."""
    return sum(name.startswith(_OURS) and name not in read for name in attributes)
