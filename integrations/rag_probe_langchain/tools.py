"""A tool's run as a ToolCall."""

from __future__ import annotations

from rag_probe.attributes import Value
from rag_probe.stages import ToolCall
from rag_probe.wire import encode
from rag_probe_langchain.reading.document_reprs import documents_in
from rag_probe_langchain.run import Run
from rag_probe_langchain.steering import written
from rag_probe_langchain.steps import step_ended


def tool_ended(run: Run, outputs: object, ended: int) -> dict[str, Value]:
    """Say the call; the passages that it gave are looked at as a step's are."""
    step_ended(run, _given(outputs), ended)
    return encode(ToolCall(name=run.name, call_id=_call_id(run, outputs)))


def _call_id(run: Run, outputs: object) -> str | None:
    """Told at the start; an older LangChain tells it in the message only."""
    if run.call is not None and run.call.id is not None:
        return run.call.id
    name = getattr(outputs, "tool_call_id", None)
    return name if isinstance(name, str) else None


def _given(outputs: object) -> object:
    """The artifact beside a tool's message, the passages quoted in it, or what the tool writes to a graph's state."""
    artifact = getattr(outputs, "artifact", None)
    if artifact is not None:
        return artifact
    content = getattr(outputs, "content", None)
    passages = documents_in(content) if isinstance(content, str) else []
    return passages or written(outputs)
