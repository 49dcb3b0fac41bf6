"""The start of a run: a record and a parent."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeAlias
from uuid import UUID

from langchain_core.messages import BaseMessage
from opentelemetry.trace import Link

from rag_probe_langchain import pauses, runs
from rag_probe_langchain.finish import give_up
from rag_probe_langchain.marks import mark_of, text_of
from rag_probe_langchain.nodes import node_of
from rag_probe_langchain.options import Options
from rag_probe_langchain.origin import new_request
from rag_probe_langchain.resuming import resume
from rag_probe_langchain.run import Kind, Prompt, Run
from rag_probe_langchain.scan import lists_in, mapping, snapshot

_LONGEST: Final = 120
"""Characters of a name that goes into a span's name."""
_NOTHING: Final[Mapping[str, object]] = {}

Details: TypeAlias = Mapping[str, Any]
"""What a start event tells beside the input: parent, tags, metadata, name."""


def begin(options: Options, kind: Kind, run_id: UUID, inputs: object, details: Details) -> Run | None:
    """Open a run; None when it is open already, is not recorded, or stands in a question that is over."""
    key = run_id.int
    if key in runs.OPEN:
        return None
    now = time.time_ns()
    parent_id: UUID | None = details.get("parent_run_id")
    parent = runs.current() if parent_id is None else runs.OPEN.get(parent_id.int)
    if parent is None and parent_id is not None and runs.is_late(key, parent_id.int):
        return None
    metadata: Mapping[str, object] = details.get("metadata") or _NOTHING
    request = new_request(options, inputs, metadata, now) if parent is None else parent.request
    request.touched = now
    if request.recording is False:
        runs.add_silent(key, request)
        return None
    name: str = details.get("name") or kind
    above = parent if parent is None or parent.spanned else parent.above
    run = Run(key, kind, name[:_LONGEST], request, parent, above, now, inputs, metadata, kind != "chain")
    if parent is None:
        _root(run)
    else:
        run.retriever = parent.retriever or (parent if parent.kind == "retriever" else None)
    if kind == "chain":
        _chain(run, details.get("tags"))
    given_up = runs.stale(now) if parent is None else runs.leaked(request)
    if given_up is not None:
        give_up(given_up)
    runs.add(run)
    return run


def begin_model(
    options: Options, operation: str, run_id: UUID, prompt: Sequence[BaseMessage] | str, details: Details
) -> None:
    """Open a model call, with the last known set of its moment."""
    run = begin(options, "model", run_id, prompt, details)
    if run is None:
        return
    run.operation = operation
    run.model = _model(run.metadata, details)
    run.inputs = Prompt(prompt, run.request.last)
    outer = run.parent
    while outer is not None and not outer.generated:
        outer.generated = True
        outer = outer.parent


def _model(metadata: Mapping[str, object], details: Details) -> str | None:
    named = mapping(details.get("invocation_params")) or {}
    return text_of(metadata, "ls_model_name") or text_of(named, "model") or text_of(named, "model_name")


def _root(run: Run) -> None:
    run.spanned = True
    run.request.root = run


def _chain(run: Run, tags: Sequence[str] | None) -> None:
    parent = run.parent
    run.inputs = snapshot(run.inputs)
    run.raw_mark = mark_of(tags, run.metadata)
    if parent is None:
        run.agent = run.metadata.get("ls_integration") == "langchain_create_agent"
        _look(run)
        return
    run.node = node_of(tags, run.metadata)
    if run.raw_mark is not None and run.raw_mark != parent.raw_mark:
        run.mark = run.raw_mark
    run.inside_mark = parent.inside_mark or parent.mark not in (None, "context")
    run.spanned = run.node is not None or run.mark is not None
    if run.node is not None:
        _node(run)


def _node(run: Run) -> None:
    assert run.node is not None
    request = run.request
    attempts = request.attempts
    task = run.node.checkpoint_ns or run.node.name
    attempts[task] = attempts.get(task, 0) + 1
    if attempts[task] > 1:
        run.node = replace(run.node, attempt=attempts[task])
    pause = pauses.find(request.thread, run.node.task_id)
    if pause is not None:
        run.links = (Link(pause.node),)
        resume(request, pause)
    _look(run)


def _look(run: Run) -> None:
    """Passages that come with the input, as into a resumed graph, are known before a model is asked."""
    documents = run.request.documents
    if not len(documents):
        for found in lists_in(run.inputs):
            if found.passages:
                documents.add(found.passages)
