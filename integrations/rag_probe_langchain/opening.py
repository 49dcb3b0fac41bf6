"""What a span says when it starts: its name, and what was known at the start of its run."""

from __future__ import annotations

from typing import Final

from rag_probe import attributes as a
from rag_probe.attributes import Value
from rag_probe.stages import Content, Root
from rag_probe.wellformed import well_formed
from rag_probe.wire import encode_node, encode_root
from rag_probe_langchain.request import Request, StageSpan
from rag_probe_langchain.run import Call, Run

_MODEL: Final = Call("chat")


def question_of(request: Request) -> Content | None:
    """What may leave of the question."""
    return None if request.asked is None else request.options.policy.content_of(request.asked)


def title(run: Run) -> str:
    """The conventions' span name, else ours: low cardinality always."""
    name = run.name
    match run.kind:
        case "retriever":
            return "retrieval"
        case "model":
            operation, model, *_ = called(run)
            return f"{operation} {model}" if model else operation
        case "tool":
            return f"execute_tool {name}"
        case "chain":
            if run.node is not None:
                return f"invoke_node {run.node.name}"
            if run.mark is not None:
                return "retrieval" if run.mark == "retrieval" else f"rag.{run.mark} {name}"
            return f"invoke_agent {name}" if run.agent else f"invoke_workflow {name}"


def stage_title(stage: StageSpan) -> str:
    """The same for a stage that is no run; its attributes say which one it is."""
    kind = stage.attributes.get(a.STAGE)
    return "retrieval" if kind == "retrieval" else f"rag.{kind} {stage.attributes.get(a.STEP_NAME, stage.run.name)}"


def called(run: Run) -> Call:
    """Which operation of which model a model's run is."""
    return run.call or _MODEL


def operation_of(run: Run) -> str | None:
    """The conventions' name for what a run does; they have none for a graph's node and a marked step."""
    match run.kind:
        case "retriever":
            return "retrieval"
        case "model":
            return called(run).operation
        case "tool":
            return "execute_tool"
        case "chain":
            named = run.node is not None or run.mark is not None
            return None if named else "invoke_agent" if run.agent else "invoke_workflow"


def opening(run: Run) -> dict[str, Value]:
    """The attributes of a span that starts before its run has ended; its end writes the others."""
    out: dict[str, Value] = {}
    if run.parent is None:
        request = run.request
        root = Root(
            tags=request.tags, identity=request.identity, thread_id=request.thread, question=question_of(request)
        )
        out = encode_root(root, request.options.policy.max_items)
    operation = operation_of(run)
    if operation is not None:
        out[a.OPERATION] = operation
        if run.kind == "chain":
            out[a.AGENT_NAME] = well_formed(run.name)
    elif run.node is not None:
        out.update(encode_node(run.node))
    elif run.mark is not None:
        out[a.STAGE] = run.mark
    return out
