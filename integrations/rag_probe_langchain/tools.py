"""A tool's run as a ToolCall."""

from __future__ import annotations

from rag_probe.attributes import Value
from rag_probe.stages import ToolCall
from rag_probe.wire import encode
from rag_probe_langchain.run import Run
from rag_probe_langchain.steps import step_ended


def tool_ended(run: Run, outputs: object, ended: int) -> dict[str, Value]:
    """Say the call; passages in the output, or in the artifact that came with it, are looked at as a step's are."""
    artifact = getattr(outputs, "artifact", None)
    step_ended(run, outputs if artifact is None else artifact, ended)
    return encode(ToolCall(name=run.name, call_id=run.call.id if run.call is not None else None))
