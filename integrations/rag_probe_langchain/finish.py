"""The end of a run: its span ends exactly once, whatever else goes wrong."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias
from uuid import UUID

from rag_probe import attributes as a
from rag_probe.attributes import Value
from rag_probe.faults import log_once
from rag_probe.stages import Answer, NodeOutcome, Root
from rag_probe.wire import encode_node, encode_root
from rag_probe_langchain import pauses, runs
from rag_probe_langchain.answer import answer_of
from rag_probe_langchain.generation import generation_ended
from rag_probe_langchain.nodes import is_control_flow, is_interrupt
from rag_probe_langchain.opening import question_of
from rag_probe_langchain.question import question_in
from rag_probe_langchain.resuming import pause_node
from rag_probe_langchain.retrieval import retrieval_ended
from rag_probe_langchain.run import Run
from rag_probe_langchain.spans import end_span, is_recording

Ending: TypeAlias = Callable[[Run, int], dict[str, Value]]
"""From a run and the time of its end (nanoseconds since the epoch) to what its span says."""


def finish(run_id: UUID, ending: Ending, output: object = None, inputs: object = None) -> None:
    """End a run; nothing happens when it has ended already. `inputs` are those of a stream."""
    _finish(run_id, ending, None, output, inputs)


def fail(run_id: UUID, error: BaseException, ending: Ending | None = None, inputs: object = None) -> None:
    """End a run that raised; `ending` says more than that it is incomplete."""
    _finish(run_id, ending or incomplete, error, None, inputs)


def _finish(run_id: UUID, ending: Ending, error: BaseException | None, output: object, inputs: object) -> None:
    key = run_id.int
    run = runs.take(key)
    if run is None:
        return
    if inputs is not None:
        run.inputs = inputs
    request = run.request
    request.touched = now = time.time_ns()
    with request.lock:
        if run.parent is None and key == run.key:
            _end_root(run, ending, now, error, output)
        elif is_recording(run):
            _end(run, ending, now, error)


def give_up(run: Run) -> None:
    """End a run that nobody else will; with a root, its question."""
    run.partial = True
    with run.request.lock:
        if runs.take(run.key) is None:
            return
        if run.parent is None:
            _end_root(run, incomplete, time.time_ns(), None, None)
        elif is_recording(run):
            _end(run, incomplete, time.time_ns(), None)


def _end_root(root: Run, ending: Ending, now: int, error: BaseException | None, output: object) -> None:
    recording = is_recording(root)
    for run in runs.leftovers(root.request):
        if recording:
            run.partial = True
            root.partial = root.partial or (run.kind == "model" and run.retriever is None)
            _end(run, incomplete, now, None)
    if recording:
        _end(root, lambda run, at: {**ending(run, at), **_answer(run, error, output)}, now, error)


def _end(run: Run, ending: Ending, now: int, error: BaseException | None) -> None:
    if error is not None and is_control_flow(error):
        ending, failure = incomplete, None
    else:
        failure = error
    attributes: dict[str, Value] = {}
    try:
        attributes = ending(run, now)
        if run.node is not None:
            attributes.update(encode_node(replace(run.node, outcome=_node_outcome(run, error))))
    except Exception as fault:  # the span must end all the same
        log_once(f"the end of a {run.kind}", fault)
    if run.spanned:
        end_span(run, now, attributes, failure)
    if error is not None and run.node is not None and is_interrupt(error):
        pause_node(run)


def incomplete(run: Run, _: int) -> dict[str, Value]:
    """What can be said of a run that did not come to its end."""
    match run.kind:
        case "model":
            return generation_ended(run, None)
        case "retriever":
            return retrieval_ended(run, None)
        case "chain" | "tool":
            return {}


def _node_outcome(run: Run, error: BaseException | None) -> NodeOutcome | None:
    if error is not None and is_interrupt(error):
        return "interrupted"
    if run.partial:
        return None
    if error is not None and not is_control_flow(error):
        return "error"
    if run.links and run.node is not None:
        pauses.forget(run.request.thread, run.node.task_id)
        return "answered"
    return "no_write" if run.empty and error is None else "ok"


def _answer(root: Run, error: BaseException | None, output: object) -> dict[str, Value]:
    request = root.request
    answer, inferred = None, ()
    if error is not None and not is_control_flow(error):
        answer = Answer(outcome=request.told.outcome or "error", confidence=request.told.confidence)
    elif root.kind in ("chain", "model") and not (root.partial and output is None):
        answer, inferred = answer_of(request, output)
    late = None
    if request.asked is None:
        request.asked = question_in(root.inputs)
        late = question_of(request)
    out = encode_root(
        Root(identity=request.told.identity, question=late, answer=answer), request.options.policy.max_items
    )
    if inferred:
        out[a.INFERRED] = inferred
    return out
