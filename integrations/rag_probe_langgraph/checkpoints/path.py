"""A turn → the evidence path of its question. What a checkpoint cannot tell is named, never guessed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final, NamedTuple

from rag_probe.attributes import Value
from rag_probe.gaps import gaps
from rag_probe.passages import union
from rag_probe.path import LATER_BRANCH, EvidencePath, Step
from rag_probe.policy import CapturePolicy
from rag_probe.stages import Answer, CaseTags, Node
from rag_probe.wire import decode_root
from rag_probe_langgraph.checkpoints.answering import answered
from rag_probe_langgraph.checkpoints.evidence import Evidence
from rag_probe_langgraph.checkpoints.nodes import failure_of, milliseconds, nodes_of
from rag_probe_langgraph.checkpoints.plain import Reader
from rag_probe_langgraph.checkpoints.remains import STATE, as_remains, left_by
from rag_probe_langgraph.checkpoints.roles import Role, role_of
from rag_probe_langgraph.checkpoints.saved import Store, is_of_the_app, state_of
from rag_probe_langgraph.checkpoints.tasks import Task, tasks_of
from rag_probe_langgraph.checkpoints.turns import Turn
from rag_probe_langgraph.checkpoints.verdicts import begin, odd, oddities, settle, verdicts_of
from rag_probe_langgraph.checkpoints.writes import read_input, read_write

_TRACEPARENT: Final = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}")
"""LangGraph's own channels that hold what the app returned (functional API)."""
_NEVER: Final = ("nodes.attempt", "stage_latency_ms")
_NEVER_OF_CALLS: Final = ("generations.latency_ms", "generations.model")
"""What no checkpoint tells."""


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
        read_input(evidence, reader.read(state_of(store.checkpoint(turn.saved[0])).get("__start__")))
    left = left_by(turn, store, reader)
    if left:
        read_input(evidence, {each.channel: each.value for each in left})
        evidence.drafts.begin("", "")
    for channel, value, given in left:
        read_write(evidence, STATE, channel, value, given=given)
    evidence.unsettled = bool(evidence.saying)
    for task in tasks:
        _read(task, evidence, reader)
    nodes = nodes_of(turn, tasks, store, policy)
    path = _path(turn, evidence, nodes, failure_of(tasks))
    return Reading(as_remains(path) if left else path, evidence.read_as, tuple(evidence.unmapped))


def _read(task: Task, evidence: Evidence, reader: Reader) -> None:
    if task.is_start and task.saved.namespace:
        return  # what a node handed to its subgraph, which is nothing new
    written = [(write.channel, reader.read(write.value)) for write in task.writes if is_of_the_app(write.channel)]
    if task.is_start:
        read_input(evidence, dict(written))
    begin(evidence, task)
    for channel, value in written:
        if not channel == task.node == value:  # so LangGraph 0.2 said that a node had run
            read_write(evidence, task.node or "unknown", channel, value, given=task.is_start)
    settle(evidence, task)


def _path(turn: Turn, evidence: Evidence, nodes: tuple[Step[Node], ...], error: str | None) -> EvidencePath:
    waiting = [step.stage.name for step in nodes if step.stage.outcome in ("interrupted", "pending")]
    ended = not waiting and turn.saved[-1].source != "input"
    read = answered(evidence, error, waiting=not ended, whole=turn.whole and not evidence.closed)
    path = _stages(turn, evidence, nodes, read.answer)
    metadata = {key: value for saved in turn.saved for key, value in saved.metadata.items()}
    root = decode_root(_attributes(metadata))
    trace = _TRACEPARENT.fullmatch(str(metadata.get("traceparent", "")))
    return replace(
        path,
        trace_id="" if trace is None else trace[1],
        trace_ids=() if trace is None else (trace[1],),
        tags=CaseTags() if turn.later else root.tags,  # the later branch is the case's result
        identity=root.identity,
        error=error,
        inferred=(*read.inferred, *_queries(evidence), *_bounds(path, nodes)),
        verdicts=verdicts_of(evidence, read.text, whole=turn.whole),
        not_captured=(*_gaps(path), *(["verdicts"] if _lacks_verdicts(evidence) else [])),
        warnings=(*_warnings(turn, waiting), *oddities(evidence), *_closed(evidence)),
        partial=not turn.whole or not ended,
    )


def _stages(turn: Turn, evidence: Evidence, nodes: tuple[Step[Node], ...], answer: Answer | None) -> EvidencePath:
    first, last = turn.saved[0], turn.saved[-1]
    retrieved = [step.stage.documents for step in evidence.retrievals if step.stage.documents is not None]
    return EvidencePath(
        path_id=f"{first.thread}:{last.id}",
        trace_id="",
        thread_id=first.thread,
        source="checkpoint",
        started_at=first.at,
        question=None if evidence.question is None else evidence.request.options.policy.content_of(evidence.question),
        retrievals=tuple(evidence.retrievals) or None,
        retrieved=union(retrieved) if retrieved else None,
        reranked=evidence.reranked,
        filtered=evidence.filtered,
        permissions=None if evidence.permissions is None else tuple(evidence.permissions),
        context=evidence.context,
        budget=None if evidence.context is None else evidence.context.budget,
        answer=answer,
        answer_generation=len(evidence.generations) - 1 if evidence.generations and _is_said(answer) else None,
        citations=None if answer is None else answer.citations,
        generations=tuple(evidence.generations) or None,
        tools=tuple(evidence.tools) if any("messages" in roles for roles in evidence.read_as.values()) else None,
        nodes=nodes if nodes or turn.whole else None,
        latency_ms=milliseconds(first.at, last.at) if turn.whole and not _is_skewed(turn) else None,
    )


def _is_said(answer: Answer | None) -> bool:
    """Whether a model may have said it: of a run that failed or waits there is none, unless it has a text."""
    return answer is not None and (answer.content is not None or answer.outcome != "error")


def _gaps(path: EvidencePath) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*gaps(path), *(_NEVER_OF_CALLS if path.generations else ()), *_NEVER)))


def _lacks_verdicts(evidence: Evidence) -> bool:
    return (
        bool(odd(evidence))
        or evidence.unsettled
        or any(role_of(channel, evidence.roles) == "verdict" for channel in evidence.closed)
    )


def _queries(evidence: Evidence) -> Iterator[str]:
    """A tool's argument is what it was asked; what it asked its retriever, only a trace tells."""
    if any(step.stage.query is not None for step in evidence.retrievals):
        yield "retrievals.query"


def _is_skewed(turn: Turn) -> bool:
    """Whether a checkpoint is older than what it came of: processes with other clocks wrote them."""
    return any(
        before.at is not None and after.at is not None and after.at < before.at
        for before, after in pairwise(turn.saved)
    )


def _bounds(path: EvidencePath, nodes: Sequence[Step[Node]]) -> Iterator[str]:
    """Times are the bounds of supersteps, not what ran within them."""
    if path.latency_ms is not None:
        yield "latency_ms"
    if any(step.latency_ms is not None for step in nodes):
        yield "nodes.latency_ms"


def _warnings(turn: Turn, waiting: Sequence[str]) -> Iterator[str]:
    for name in dict.fromkeys(waiting):
        yield f"waits at {name!r}: what follows is not in this store"
    if turn.saved[-1].source == "input":
        yield "nothing has run yet: what follows the input is not in this store"
    if not turn.whole:
        yield "the history begins in the midst of a turn: checkpoints before it were not written or were deleted"
    if _is_skewed(turn):
        yield "clocks disagree: a checkpoint is older than the one before it, so that the time between is not known"
    if turn.later:
        yield LATER_BRANCH


def _closed(evidence: Evidence) -> Iterator[str]:
    for channel, why in evidence.closed.items():
        yield f"{channel!r} stays closed: {why}"


def _attributes(metadata: Mapping[str, object]) -> dict[str, Value]:
    return {key: value for key, value in metadata.items() if isinstance(value, (str, int, float, bool))}
