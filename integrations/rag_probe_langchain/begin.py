"""The start of a run: a record and a parent. Two thirds of all runs are plumbing: for them this is all that happens."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final
from uuid import UUID

from langchain_core.messages import BaseMessage
from opentelemetry.trace import Link

from rag_probe.stages import Node
from rag_probe_langchain import pauses, runs
from rag_probe_langchain.bodies import around, arrived
from rag_probe_langchain.calibration import has_more_than_text
from rag_probe_langchain.fans import settle
from rag_probe_langchain.finish import give_up
from rag_probe_langchain.known import enter, known_to
from rag_probe_langchain.marks import KEY, TAG, mark_of, text_of
from rag_probe_langchain.nodes import AGENT, LONGEST, NODE, is_agent, is_called, node_of, thread_of
from rag_probe_langchain.options import Options
from rag_probe_langchain.origin import new_request, seek_thread
from rag_probe_langchain.peers.theirs import find_theirs
from rag_probe_langchain.recalling import recall
from rag_probe_langchain.request import Request
from rag_probe_langchain.resuming import resume, resume_after
from rag_probe_langchain.run import Call, Kind, Prompt, Run
from rag_probe_langchain.scan import holds_none, lists_in, mapping, snapshot
from rag_probe_langchain.spans import begin_root
from rag_probe_langchain.trace_policy import policy_of_caller
from rag_probe_langchain.watching import watch

_NOTHING: Final[Mapping[str, object]] = {}
_TELLING: Final = frozenset({KEY, NODE, AGENT})
"""Metadata that says what a step is; most have none of it."""


def begin(  # noqa: C901 - one frame for the hot path
    options: Options,
    kind: Kind,
    run_id: UUID,
    parent_id: UUID | None,
    name: str | None,
    inputs: object,
    tags: Sequence[str] | None,
    metadata: Mapping[str, object] | None,
    call: Call | None = None,
) -> Run | None:
    """Open a run; None when it is open already, is not recorded, or stands in a question that is over.

    In one frame for all that stands inside a question: every call costs as much as the rest of it.
    """
    key = run_id.int
    if key in runs.OPEN:
        return None
    parent = around() if parent_id is None else runs.OPEN.get(parent_id.int)
    if parent is None:
        if parent_id is not None and runs.is_late(key, parent_id.int):
            return None
        return _begin_question(options, kind, run_id, name, inputs, tags, metadata or _NOTHING, call)
    request = parent.request
    if not request.recording:
        runs.add_silent(key, request)
        return None
    run = Run(key, kind, (name or kind)[:LONGEST], request, parent, time.time_ns(), inputs, metadata or _NOTHING)
    if kind != "chain":
        run.call = call
    else:
        if type(inputs) is dict:  # pyright: ignore[reportUnknownArgumentType] - any dict
            run.inputs = snapshot(inputs)  # pyright: ignore[reportUnknownArgumentType] - as above
        if (
            (metadata and not _TELLING.isdisjoint(metadata))
            or (tags and TAG in " ".join(tags))
            or parent.raw_mark is not None
        ):
            _read(run, parent, tags)
    if request.peers is not None:
        find_theirs(run)
    if len(request.runs) >= runs.RUNS:
        _make_room(request)
    runs.OPEN[key] = request.runs[key] = run
    if kind != "chain":
        if not request.sought:
            seek_thread(request)
        arrived(run)
    elif run.node is not None:
        _node(run, run.node)
    root = request.root
    return run if root is not None and not root.ended else None if runs.is_over(run) else run


def begin_model(
    options: Options,
    operation: str,
    run_id: UUID,
    parent_id: UUID | None,
    prompt: Sequence[BaseMessage] | str,
    tags: Sequence[str] | None,
    metadata: Mapping[str, object] | None,
    parameters: object,
) -> None:
    """Open a model call, with the last known set of its moment."""
    named = mapping(parameters) or {}
    call = Call(operation, _model(metadata or _NOTHING, named), None, has_more_than_text(named))
    run = begin(options, "model", run_id, parent_id, None, prompt, tags, metadata, call)
    if run is None:
        return
    run.inputs = Prompt(prompt, known_to(run, run.request).last if run.retriever is None else None)
    outer = run.parent
    while outer is not None and not outer.generated:
        outer.generated = True
        outer = outer.parent


def _model(metadata: Mapping[str, object], named: Mapping[object, object]) -> str | None:
    return text_of(metadata, "ls_model_name") or text_of(named, "model") or text_of(named, "model_name")


def _begin_question(
    options: Options,
    kind: Kind,
    run_id: UUID,
    name: str | None,
    inputs: object,
    tags: Sequence[str] | None,
    metadata: Mapping[str, object],
    call: Call | None,
) -> Run | None:
    now = time.time_ns()
    request = new_request(options, inputs, metadata, now)
    run = Run(run_id.int, kind, (name or kind)[:LONGEST], request, None, now, inputs, metadata)
    run.call = call
    _root(run, run_id, tags)
    arrived(run)
    return run if request.recording and not runs.is_over(run) else None


def _root(run: Run, run_id: UUID, tags: Sequence[str] | None) -> None:
    run.spanned = True
    run.request.root = run
    given_up = runs.stale(run.started)
    if given_up is not None:
        give_up(given_up)
    runs.add_root(run)
    watch(run, run_id)
    if not run.request.recording:
        return
    run.agent = is_agent(run.metadata, _NOTHING)
    if run.kind == "chain":
        run.inputs = snapshot(run.inputs)
        run.raw_mark = mark_of(tags, run.metadata)
    if run.request.peers is not None:
        find_theirs(run)
    begin_root(run)
    if run.kind == "chain" and run.request.recording:
        _look(run)


def _make_room(request: Request) -> None:
    leaked = runs.leaked(request)
    if leaked is not None:
        give_up(leaked)


def _read(run: Run, parent: Run, tags: Sequence[str] | None) -> None:
    """What the metadata or a tag says of a step: a mark of the app's, a node of LangGraph's, an agent."""
    if parent.raw_mark is not None and (parent.inside_mark or parent.mark not in (None, "context")):
        run.inside_mark = True
    run.raw_mark = mark_of(tags, run.metadata)
    if run.raw_mark is not None and run.raw_mark != parent.raw_mark:
        run.mark = run.raw_mark
        run.spanned = True
        run.is_retrieval = run.mark == "retrieval"
    run.node = node_of(tags, run.metadata, parent.metadata)
    run.agent = is_agent(run.metadata, parent.metadata)
    run.spanned = run.spanned or run.agent or run.node is not None


def _node(run: Run, node: Node) -> None:
    request = run.request
    attempts = request.attempts
    request.thread = request.thread or thread_of(run.metadata)
    if not attempts:
        resume_after(request, node)
    if run.parent is request.root:
        request.step = node.step
    task = node.checkpoint_ns or node.name
    attempts[task] = attempts.get(task, 0) + 1
    if attempts[task] > 1:
        run.node = replace(node, attempt=attempts[task])
    pause = pauses.find(request.thread, node.task_id)
    if pause is not None:
        run.links = (Link(pause.node),)
        run.recovering = pause.failed
        resume(request, pause)
    if request.options.policy.content:  # without it no text leaves anyway
        run.trace_policy = policy_of_caller()
    with request.lock:
        graph = run.parent
        if graph is not None and graph.fan is not None and graph.fan.step != node.step:
            settle(graph)
        if request.resumed:
            recall(run)
        if not is_called(run.metadata):
            enter(run)
    _look(run)


def _look(run: Run) -> None:
    """Passages that come with the input, as into a resumed graph, are known before a model is asked."""
    documents = run.request.documents
    if not (documents.any or holds_none(run.inputs)):
        for found in lists_in(run.inputs):
            if found.passages:
                documents.add(found.passages)
