"""A turn → the evidence path of its question. What a checkpoint cannot tell is named, never guessed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from rag_probe.attributes import Value
from rag_probe.current import Told
from rag_probe.measured import number
from rag_probe.passages import union
from rag_probe.path import LATER_BRANCH, EvidencePath, Step
from rag_probe.policy import CapturePolicy
from rag_probe.stages import Answer, CaseTags, Citations, Node
from rag_probe.wire import decode_root
from rag_probe.wire.answer import OUTCOMES
from rag_probe_langchain.answer import Read, answer_of
from rag_probe_langgraph.checkpoints.evidence import Evidence
from rag_probe_langgraph.checkpoints.plain import Reader
from rag_probe_langgraph.checkpoints.roles import Role
from rag_probe_langgraph.checkpoints.saved import Store, state_of
from rag_probe_langgraph.checkpoints.tasks import Task, tasks_of
from rag_probe_langgraph.checkpoints.turns import Turn

_TRACEPARENT: Final = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}")
_BRANCH: Final = "branch:to:"
_OUTPUTS: Final = ("__end__", "__return__")
"""LangGraph's own channels that hold what the app returned (functional API)."""
_FIELDS: Final = (
    "question",
    "retrievals",
    "retrieved",
    "reranked",
    "filtered",
    "permissions",
    "context",
    "budget",
    "answer",
    "citations",
    "generations",
    "tools",
    "latency_ms",
    "cost_usd",
)


class Reading(NamedTuple):
    """A path, and how its channels were read."""

    path: EvidencePath
    read_as: Mapping[str, Sequence[Role]]
    unmapped: Sequence[str]


def path_of(turn: Turn, store: Store, reader: Reader, policy: CapturePolicy, roles: Mapping[str, Role]) -> Reading:
    """Read one turn."""
    tasks = tasks_of(turn, store, reader)
    evidence = Evidence(policy, roles)
    if not any(task.is_start for task in tasks):
        evidence.asked(reader.read(state_of(store.checkpoint(turn.saved[0])).get("__start__")))
    for task in tasks:
        _read(task, evidence, reader)
    nodes = (*_nodes(tasks, policy), *_pending(turn, tasks, store))
    error = next((task.error or "error" for task in tasks if task.outcome == "error"), None)
    return Reading(_path(turn, evidence, nodes, _kind(error)), evidence.read_as, tuple(evidence.unmapped))


def _read(task: Task, evidence: Evidence, reader: Reader) -> None:
    if task.is_start and task.saved.namespace:
        return  # what a node handed to its subgraph, which is nothing new
    if task.is_start:
        evidence.asked({write.channel: reader.read(write.value) for write in task.writes})
    for write in task.writes:
        if not write.channel.startswith((_BRANCH, "__")) or write.channel in _OUTPUTS:
            evidence.wrote(task.node or "unknown", write.channel, reader.read(write.value), given=task.is_start)


def _nodes(tasks: Sequence[Task], policy: CapturePolicy) -> Iterator[Step[Node]]:
    """The tasks but LangGraph's own; times are those of the superstep."""
    for task in tasks:
        if not task.is_start and task.outcome is not None:
            step = task.saved.step
            node = Node(
                name=task.node or "unknown",
                step=None if step is None else step + 1,
                task_id=task.id,
                checkpoint_id=task.saved.id,
                checkpoint_ns=f"{task.saved.namespace}|{task.node}:{task.id}".lstrip("|"),
                outcome=task.outcome,
                asked=None if task.asked is None else policy.content_of(task.asked),
                answered=None if task.answered is None else policy.content_of(task.answered),
            )
            yield Step(node, _milliseconds(task.saved.at, task.until), _kind(task.error))


def _pending(turn: Turn, tasks: Sequence[Task], store: Store) -> Iterator[Step[Node]]:
    """Nodes that the last checkpoint was about to run."""
    last = turn.saved[-1]
    ran = {task.node for task in tasks if task.saved is last}
    for channel in state_of(store.checkpoint(last)):
        name = channel.removeprefix(_BRANCH)
        if channel.startswith(_BRANCH) and name not in ran:
            step = None if last.step is None else last.step + 1
            yield Step(Node(name=name, step=step, checkpoint_id=last.id, outcome="pending"))


def _path(turn: Turn, evidence: Evidence, nodes: Sequence[Step[Node]], error: str | None) -> EvidencePath:
    first, last = turn.saved[0], turn.saved[-1]
    metadata = {key: value for saved in turn.saved for key, value in saved.metadata.items()}
    root = decode_root(_attributes(metadata))
    waiting = [step.stage.name for step in nodes if step.stage.outcome in ("interrupted", "pending")]
    read = _answer(evidence, error, waiting=bool(waiting), whole=turn.whole and not evidence.closed)
    trace = _TRACEPARENT.fullmatch(str(metadata.get("traceparent", "")))
    retrieved = [step.stage.documents for step in evidence.retrievals if step.stage.documents is not None]
    path = EvidencePath(
        path_id=f"{first.thread}:{last.id}",
        trace_id="" if trace is None else trace[1],
        trace_ids=() if trace is None else (trace[1],),
        thread_id=first.thread,
        source="checkpoint",
        started_at=first.at,
        tags=CaseTags() if turn.later else root.tags,  # the later branch is the case's result
        identity=root.identity,
        question=None if evidence.question is None else evidence.request.options.policy.content_of(evidence.question),
        retrievals=tuple(evidence.retrievals) or None,
        retrieved=union(retrieved) if retrieved else None,
        reranked=evidence.reranked,
        filtered=evidence.filtered,
        permissions=None if evidence.permissions is None else tuple(evidence.permissions),
        context=evidence.context,
        budget=None if evidence.context is None else evidence.context.budget,
        answer=read.answer,
        answer_generation=len(evidence.generations) - 1 if evidence.generations else None,
        citations=None if read.answer is None else read.answer.citations,
        generations=tuple(evidence.generations) or None,
        tools=tuple(evidence.tools) if any("messages" in roles for roles in evidence.read_as.values()) else None,
        nodes=tuple(nodes),
        latency_ms=_milliseconds(first.at, last.at) if turn.whole else None,
        error=error,
        inferred=(*read.inferred, *_bounds(turn, nodes)),
        warnings=(*_warnings(turn, waiting), *_closed(evidence)),
        partial=not turn.whole or bool(waiting),
    )
    return replace(path, not_captured=_gaps(path))


def _bounds(turn: Turn, nodes: Sequence[Step[Node]]) -> Iterator[str]:
    """Times are the bounds of supersteps, not what ran within them."""
    if turn.whole:
        yield "latency_ms"
    if any(step.latency_ms is not None for step in nodes):
        yield "nodes.latency_ms"


class _Answered(NamedTuple):
    answer: Answer | None
    inferred: tuple[str, ...]


def _answer(evidence: Evidence, error: str | None, *, waiting: bool, whole: bool) -> _Answered:
    """The rules of the handler, over what the turn wrote; nothing yet while the graph waits.

    Of a turn that is not whole silence says nothing: its answer may stand where nobody can read it.
    """
    if error is not None:
        return _Answered(Answer(outcome="error"), ())
    if waiting:
        return _Answered(None, ())
    output = dict(evidence.output)
    evidence.request.told = Told(
        outcome=OUTCOMES.get(str(output.pop("outcome", ""))), confidence=number(output.pop("confidence", None))
    )
    read: Read = answer_of(evidence.request, output)
    if not whole and read.answer.content is None:
        return _Answered(None, ())
    return _Answered(replace(read.answer, citations=_resolved(read.answer.citations, evidence)), read.inferred)


def _resolved(citations: Citations | None, evidence: Evidence) -> Citations | None:
    """`[2]` counts the passages of a prompt; where no channel holds that prompt, nobody knows what it points at."""
    if citations is None or evidence.context is not None:
        return citations
    return citations if evidence.request.documents.whole.keys() >= set(citations.ids) else None


def _gaps(path: EvidencePath) -> tuple[str, ...]:
    names = [name for name in _FIELDS if getattr(path, name) is None]
    names += ["retrievals.query"] * bool(path.retrievals)
    names += ["generations.latency_ms", "generations.cost_usd", "generations.model"] * bool(path.generations)
    return (*names, "nodes.attempt", "stage_latency_ms")


def _warnings(turn: Turn, waiting: Sequence[str]) -> Iterator[str]:
    for name in dict.fromkeys(waiting):
        yield f"waits at {name!r}: what follows is not in this store"
    if not turn.whole:
        yield "the history begins in the midst of a turn: checkpoints before it were not written or were deleted"
    if turn.later:
        yield LATER_BRANCH


def _closed(evidence: Evidence) -> Iterator[str]:
    for channel, why in evidence.closed.items():
        yield f"{channel!r} stays closed: {why}"


def _attributes(metadata: Mapping[str, object]) -> dict[str, Value]:
    return {key: value for key, value in metadata.items() if isinstance(value, (str, int, float, bool))}


def _kind(error: str | None) -> str | None:
    """The exception's type, from its repr: the message is content."""
    return None if error is None else error.partition("(")[0].strip("'\" ")[:100] or "error"


def _milliseconds(start: int | None, end: int | None) -> float | None:
    return None if start is None or end is None else (end - start) / 1e6
