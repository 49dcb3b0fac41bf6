"""One span per id: exact copies collapse, copies that differ are reported and never merged."""

from __future__ import annotations

from collections.abc import Iterable

from rag_probe_collector.otlp.span import Resource, Span


def distinct(spans: Iterable[Span]) -> tuple[dict[str, Span], frozenset[str]]:
    """The spans of one trace by id, and the ids that came with different contents.

    Of copies that differ the one that ended last is read (a span may be sent before it is complete), so that the
    order of arrival does not matter; what only the others say it has lost. A resource that a collector added to on one
    of two ways is no difference.
    """
    by_id: dict[str, Span] = {}
    copies: dict[str, list[Span]] = {}
    for span in spans:
        known = by_id.setdefault(span.span_id, span)
        if known is span or known == span:
            continue
        by_id[span.span_id] = max(known, span, key=_weight)
        if known._replace(resource=span.resource) != span:
            copies.setdefault(span.span_id, [known]).append(span)
    for span_id, others in copies.items():
        by_id[span_id] = _less(by_id[span_id], others)
    return by_id, frozenset(copies)


def _less(read: Span, copies: Iterable[Span]) -> Span:
    known = read.attributes.items()
    unread = {each for copy in copies for each in copy.attributes.items() if each not in known}
    return read._replace(lost=read.lost + len(unread)) if unread else read


def _weight(span: Span) -> tuple[int, str]:
    """Any total order will do, as long as it does not depend on the order in which attributes were sent."""
    listed = (sorted(span.attributes.items()), sorted(span.resource.attributes.items()))
    return span.end, repr((span._replace(attributes={}, resource=Resource({})), listed))
