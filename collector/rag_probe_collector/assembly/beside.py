"""A span that was written beside another instrumentation, as it would have been written without it."""

from __future__ import annotations

from rag_probe import attributes as a
from rag_probe.wire.beside import put_back
from rag_probe_collector.otlp.span import Span


def as_if_alone(span: Span) -> Span:
    """Under the conventions' names again, and below the span of ours that it belongs to.

    So a path does not depend on what the other's spans say, nor on whether they arrived. The outermost one stays where
    it stands, as below another service's span: its parent's absence loses nothing of the question.
    """
    if a.BESIDE not in span.attributes:
        return span
    parent = span.attributes.get(a.PARENT)
    bare = span._replace(attributes=put_back(span.attributes))
    return bare._replace(parent_id=parent) if isinstance(parent, str) else bare._replace(local_parent=False)
