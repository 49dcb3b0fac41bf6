"""The start of a run: a record, a parent, and for a root the question's state."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final
from uuid import UUID

from opentelemetry import context as ambient
from opentelemetry import trace
from opentelemetry.trace import Link

from rag_probe.faults import log_once
from rag_probe.stages import Identity
from rag_probe_langchain import pauses, runs
from rag_probe_langchain.answer import question_in
from rag_probe_langchain.documents import Documents
from rag_probe_langchain.marks import mark_of
from rag_probe_langchain.nodes import node_of, thread_of
from rag_probe_langchain.options import Options
from rag_probe_langchain.request import Request
from rag_probe_langchain.run import Kind, Run
from rag_probe_langchain.scan import lists_in, snapshot
from rag_probe_langchain.seam import current_identity, current_tags
from rag_probe_langchain.spans import resumes, tracer_of

_LONGEST: Final = 120
"""Characters of a name that goes into a span's name."""
_NOTHING: Final[Mapping[str, object]] = {}


def begin(
    options: Options,
    kind: Kind,
    run_id: UUID,
    parent_id: UUID | None,
    name: str | None,
    inputs: object,
    tags: Sequence[str] | None,
    metadata: Mapping[str, object] | None,
) -> Run | None:
    """Open a run; None when it is open already, is not recorded, or stands in a question that is over."""
    key = run_id.int
    if key in runs.OPEN:
        return None
    now = time.time_ns()
    parent = runs.current() if parent_id is None else runs.OPEN.get(parent_id.int)
    if parent is None and parent_id is not None and runs.is_late(key, parent_id.int):
        return None
    metadata = metadata or _NOTHING
    request = _request(options, inputs, metadata, now) if parent is None else parent.request
    request.touched = now
    if request.recording is False:
        runs.add_silent(key, request)
        return None
    run = Run(
        key, kind, (name or kind)[:_LONGEST], request, parent, _above(parent), now, inputs, metadata, kind != "chain"
    )
    if parent is None:
        _root(run)
    if kind == "chain":
        _chain(run, tags)
    if parent is not None:
        run.retriever = parent.retriever or (parent if parent.kind == "retriever" else None)
    runs.add(run)
    return run


def _above(parent: Run | None) -> Run | None:
    return parent if parent is None or parent.spanned else parent.above


def _root(run: Run) -> None:
    run.spanned = True
    run.request.root = run


def _chain(run: Run, tags: Sequence[str] | None) -> None:
    metadata, parent = run.metadata, run.parent
    run.inputs = snapshot(run.inputs)
    run.raw_mark = mark_of(tags, metadata)
    if parent is None:
        run.agent = "lc_agent_name" in metadata or metadata.get("ls_integration") == "langchain_create_agent"
        _look(run)
        return
    run.node = node_of(tags, metadata)
    if run.raw_mark is not None and run.raw_mark != parent.raw_mark:
        run.mark = run.raw_mark
    run.inside_mark = parent.inside_mark or parent.mark not in (None, "context")
    run.spanned = run.node is not None or run.mark is not None
    if run.node is not None:
        _node(run)


def _node(run: Run) -> None:
    assert run.node is not None
    attempts = run.request.attempts
    task = run.node.checkpoint_ns or run.node.name
    attempts[task] = attempts.get(task, 0) + 1
    if attempts[task] > 1:
        run.node = replace(run.node, attempt=attempts[task])
    pause = pauses.find(run.request.thread, run.node.task_id)
    if pause is not None:
        run.links = (Link(pause.node),)
        resumes(run.request, pause.root)
    _look(run)


def _look(run: Run) -> None:
    """Passages that come with the input, as in a resumed graph, are known before a model is asked."""
    documents = run.request.documents
    if not len(documents):
        for found in lists_in(run.inputs):
            if found.passages:
                documents.add(found.passages)


def _request(options: Options, inputs: object, metadata: Mapping[str, object], now: int) -> Request:
    provider = options.provider or trace.get_tracer_provider()
    return Request(
        options=options,
        tracer=tracer_of(provider, options.scope),
        context=ambient.get_current(),
        tags=current_tags(),
        identity=_identity(options, inputs, metadata),
        thread=thread_of(metadata),
        asked=question_in(inputs),
        documents=Documents(options.policy),
        touched=now,
    )


def _identity(options: Options, inputs: object, metadata: Mapping[str, object]) -> Identity | None:
    if options.identity is not None:
        try:
            identity = options.identity(inputs, metadata)
        except Exception as error:  # the app's own hook: its failure must not reach the app
            log_once("identity", error)
            identity = None
        if identity is not None:
            return identity
    return current_identity()
