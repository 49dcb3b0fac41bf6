"""Our own dialect: `rag.*` attributes on spans of a `rag_probe*` scope (contracts 3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rag_probe import attributes as a
from rag_probe.stages import Root
from rag_probe.wire import decode, decode_node, decode_root
from rag_probe.wire.columns import get_list
from rag_probe_collector.dialects.lost import lost, read_by_name
from rag_probe_collector.dialects.reading import NO_NOTES, Notes, Reading, Unread, Workflow
from rag_probe_collector.otlp.decode import Interest
from rag_probe_collector.otlp.span import Span

_SCOPE: Final = "rag_probe"
_WORKFLOWS: Final = frozenset({"invoke_workflow", "invoke_agent"})
_FIELDS: Final = {
    "rerank": "reranked",
    "filter": "filtered",
    "permission": "permissions",
    "context": "context",
}
_STAGES: Final = {
    "retrieval": "retrieval",
    "chat": "generation",
    "text_completion": "generation",
    "generate_content": "generation",
    "execute_tool": "tool",
}
"""By operation, for a span that failed before it could say more."""
_WORKFLOW: Final = Workflow()


@dataclass(frozen=True, slots=True)
class Ours:
    """What the handlers of this project write."""

    name: str = "rag_probe"
    interest: Interest = Interest((_SCOPE,), (a.STAGE, a.NODE_NAME, a.BESIDE))  # noqa: RUF009  # frozen itself
    records: frozenset[str] = frozenset({"retrievals", "generations", "tools", "nodes"})

    def claims(self, span: Span) -> bool:
        """By scope; by attribute where a backend has lost the scope."""
        if span.scope.startswith(_SCOPE):
            return True
        attributes = span.attributes
        return a.STAGE in attributes or a.NODE_NAME in attributes or a.BESIDE in attributes

    def read(self, span: Span) -> Reading | None:
        """A node, a stage, or a workflow."""
        if span.lost:
            return read_by_name(span)
        attributes = span.attributes
        kind = attributes.get(a.STAGE)
        if isinstance(kind, str):
            stage = decode(attributes)
            if stage is not None or kind not in _FIELDS:
                return stage or read_by_name(span)
            return Unread(_FIELDS[kind])
        if a.NODE_NAME in attributes:
            return decode_node(attributes)
        operation = attributes.get(a.OPERATION)
        if not isinstance(operation, str):
            return None
        if operation in _WORKFLOWS:
            return _WORKFLOW
        stage = _STAGES.get(operation)
        return read_by_name(span) if stage is None else decode({**attributes, a.STAGE: stage})

    def root(self, span: Span) -> Root:
        """The inverse of what the handlers write on a root."""
        return decode_root(span.attributes)

    def notes(self, span: Span) -> Notes:
        """`rag.inferred`, `rag.not_captured`, `rag.partial`, and what a span lost on its way."""
        attributes = span.attributes
        if (
            not span.lost
            and a.INFERRED not in attributes
            and a.NOT_CAPTURED not in attributes
            and a.PARTIAL not in attributes
        ):
            return NO_NOTES
        return Notes(
            get_list(attributes, a.INFERRED, str) or (),
            (*(get_list(attributes, a.NOT_CAPTURED, str) or ()), *(lost(span) if span.lost else ())),
            attributes.get(a.PARTIAL) is True,
        )

    def source(self, graph: bool) -> str:
        """`langgraph` when there were nodes."""
        return "langgraph" if graph else "langchain"
