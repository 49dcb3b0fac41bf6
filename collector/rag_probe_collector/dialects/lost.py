"""A span of ours that came without some of its attributes, because its sender's limits were too low for it.

An SDK drops the oldest ones and says how many (OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT). What the span was is then told by its
name; what it had to say is not captured, as far as it may be missing: absent is not empty. A limit on the length of
values (OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT) leaves no mark: a word that was cut is no word, and the name says it again.
"""

from __future__ import annotations

from typing import Final

from rag_probe import attributes as a
from rag_probe.stages import Node
from rag_probe.wire import decode, decode_node
from rag_probe_collector.dialects.reading import Reading, Unread, Workflow
from rag_probe_collector.otlp.span import Span

_KINDS: Final = {
    "retrieval": "retrieval",
    "rag.rerank": "rerank",
    "rag.filter": "filter",
    "rag.permission": "permission",
    "rag.context": "context",
    "chat": "generation",
    "text_completion": "generation",
    "generate_content": "generation",
    "execute_tool": "tool",
    "invoke_node": "node",
    "invoke_workflow": "workflow",
    "invoke_agent": "workflow",
    "rag.retrieval": "retrieval",
    "rag.generation": "generation",
    "rag.tool": "tool",
    "rag.node": "node",
    "rag.answer": "workflow",
    "rag.agent": "workflow",
}
"""By the first word of a span's name; the last six are written beside another instrumentation."""
_FIELDS: Final = {
    "retrieval": ("retrieved", "retrievals.documents", "retrievals.candidates"),
    "rerank": ("reranked",),
    "filter": ("filtered", "filtered.kept", "filtered.dropped"),
    "permission": ("permissions",),
    "context": ("context",),
    "generation": ("context", "context_dropped", "budget"),
    "tool": ("tools",),
    "node": ("nodes",),
    "workflow": ("answer.outcome", "citations"),
}


def lost(span: Span) -> tuple[str, ...]:
    """The fields of the path that the span may have had more to say about."""
    return _FIELDS.get(_kind(span), ())


def read_by_name(span: Span) -> Reading | None:
    """The span's meaning, where the attribute that says it may be among the lost."""
    match _kind(span):
        case "workflow":
            return Workflow()
        case "node":
            return decode_node(span.attributes) or Node(name=span.name.partition(" ")[2])
        case "":
            return None
        case kind:
            return decode({**span.attributes, a.STAGE: kind}) or Unread(_FIELDS[kind][0])


def _kind(span: Span) -> str:
    """By what is left of its attributes, else by its name, which a pipeline may have changed."""
    told = span.attributes.get(a.STAGE)
    if isinstance(told, str) and told in _FIELDS:
        return told
    if a.NODE_NAME in span.attributes:
        return "node"
    operation = span.attributes.get(a.OPERATION)
    named = _KINDS.get(operation, "") if isinstance(operation, str) else ""
    return named or _KINDS.get(span.name.partition(" ")[0], "")
