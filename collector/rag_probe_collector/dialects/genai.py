"""The official GenAI conventions (v0.1.0 and the names before), as `opentelemetry-instrumentation-genai-*` write them.

They have no filters, permissions, context, citations or graph nodes: these are not captured.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from rag_probe import attributes as a
from rag_probe.attributes import Attributes
from rag_probe.stages import Answer, Content, Generation, Retrieval, Root, ToolCall
from rag_probe.wire.columns import get
from rag_probe.wire.generation import decode_generation
from rag_probe_collector.dialects.genai_content import documents_in, last_text, question_in
from rag_probe_collector.dialects.lost import lost
from rag_probe_collector.dialects.reading import NO_NOTES, Notes, Reading, Workflow
from rag_probe_collector.otlp.decode import Interest
from rag_probe_collector.otlp.span import Span

_DOCUMENTS: Final = "gen_ai.retrieval.documents"
_OLDER_TOP_K: Final = "gen_ai.request.top_k"
_WORKFLOW: Final = Workflow()


def _workflow(attributes: Attributes) -> Reading:  # noqa: ARG001  # one signature for every operation
    return _WORKFLOW


def _retrieval(attributes: Attributes) -> Retrieval:
    query = get(attributes, a.RETRIEVAL_QUERY_TEXT, str)
    top_k = get(attributes, a.RETRIEVAL_TOP_K, int)
    return Retrieval(
        name=get(attributes, "gen_ai.data_source.id", str),
        query=None if query is None else _content(query),
        top_k=get(attributes, _OLDER_TOP_K, int) if top_k is None else top_k,
        documents=documents_in(get(attributes, _DOCUMENTS, str)),
    )


def _generation(attributes: Attributes) -> Generation:
    said = last_text(get(attributes, a.OUTPUT_MESSAGES, str), "assistant")
    stage = decode_generation(attributes)
    return replace(stage, role=None, context=None, output=None if said is None else _content(said))


def _tool(attributes: Attributes) -> ToolCall:
    return ToolCall(name=get(attributes, a.TOOL_NAME, str), call_id=get(attributes, a.TOOL_CALL_ID, str))


_READERS: Final[Mapping[str, Callable[[Attributes], Reading]]] = {
    "invoke_workflow": _workflow,
    "invoke_agent": _workflow,
    "retrieval": _retrieval,
    "chat": _generation,
    "text_completion": _generation,
    "generate_content": _generation,
    "execute_tool": _tool,
}


@dataclass(frozen=True, slots=True)
class GenAi:
    """What the official instrumentations write."""

    name: str = "genai"
    interest: Interest = Interest((), (a.OPERATION,))  # noqa: RUF009  # frozen itself
    records: frozenset[str] = frozenset()
    """Of nothing is its absence a fact: any library may write these names for its own calls alone."""

    def claims(self, span: Span) -> bool:
        """Every span that names an operation."""
        return a.OPERATION in span.attributes

    def read(self, span: Span) -> Reading | None:
        """By operation; embeddings, memory and the like are plumbing here."""
        operation = span.attributes.get(a.OPERATION)
        reader = _READERS.get(operation) if isinstance(operation, str) else None
        return reader(span.attributes) if reader is not None else None

    def root(self, span: Span) -> Root:
        """Question and answer from the messages, where content was captured."""
        attributes = span.attributes
        asked = question_in(get(attributes, a.INPUT_MESSAGES, str))
        said = last_text(get(attributes, a.OUTPUT_MESSAGES, str), "assistant")
        return Root(
            question=None if asked is None else _content(asked),
            thread_id=get(attributes, a.CONVERSATION_ID, str),
            answer=None
            if said is None
            else Answer(outcome="answered" if said.strip() else None, content=_content(said)),
        )

    def notes(self, span: Span) -> Notes:
        """An answer's outcome is nowhere said; that a text is one is inferred. And what a span lost on its way."""
        notes = _OUTCOME if a.OUTPUT_MESSAGES in span.attributes and self.read(span) is _WORKFLOW else NO_NOTES
        return replace(notes, not_captured=lost(span)) if span.lost else notes

    def source(self, graph: bool) -> str:  # noqa: ARG002  # one signature for every dialect
        """The dialect's own name."""
        return self.name


_OUTCOME: Final = Notes(inferred=("answer.outcome",))


def _content(text: str) -> Content:
    return Content(length=len(text), text=text)
