"""The end of a run: its span ends exactly once, whatever else goes wrong."""

from __future__ import annotations

import time
from asyncio import CancelledError
from collections.abc import Callable
from typing import TypeAlias
from uuid import UUID

from opentelemetry import trace

from rag_probe import attributes as a
from rag_probe.attributes import Value
from rag_probe.faults import log_once
from rag_probe.stages import Answer, NodeOutcome, Root
from rag_probe.wire import encode_node, encode_root
from rag_probe_langchain import pauses, runs
from rag_probe_langchain.answer import answer_of, is_written, told_of
from rag_probe_langchain.generation import generation_ended
from rag_probe_langchain.known import leave
from rag_probe_langchain.opening import question_of
from rag_probe_langchain.peers.theirs import find_theirs
from rag_probe_langchain.question import question_in
from rag_probe_langchain.resuming import fail_graph, fail_node, pause_node, stop_graph
from rag_probe_langchain.retrieval import retrieval_ended
from rag_probe_langchain.run import Run
from rag_probe_langchain.shares import settle_shares
from rag_probe_langchain.spans import end_span
from rag_probe_langchain.steering import handed_up, is_control_flow, is_interrupt, written
from rag_probe_langchain.steps import is_plumbing, step_ended

Ending: TypeAlias = Callable[[Run, object, int], dict[str, Value]]
"""From a run, what it returned, and the time of its end (nanoseconds since the epoch) to what its span says."""


def finish_step(run_id: UUID, outputs: object, inputs: object) -> None:
    """End a chain's run; `inputs` are those of a stream, which are told only now."""
    key = run_id.int
    run = runs.take(key)
    if run is None:
        return
    if inputs is not None:
        run.inputs = inputs
    if run.spanned:
        run.streamed = inputs is not None
        _end(run, key, step_ended, outputs)
    elif not is_plumbing(run, outputs):
        request = run.request
        request.touched = now = time.time_ns()
        with request.lock:
            if request.peers is not None:
                find_theirs(run)
            step_ended(run, outputs, now)


def finish(run_id: UUID, ending: Ending, outputs: object) -> None:
    """End another run; nothing happens when it has ended already."""
    key = run_id.int
    run = runs.take(key)
    if run is not None:
        _end(run, key, ending, outputs)


def fail(run_id: UUID, error: BaseException, ending: Ending, outputs: object = None, inputs: object = None) -> None:
    """End a run that raised; `outputs` is what it had returned until then.

    One whose stream nobody reads any more has not failed: it came as far as it was wanted.
    """
    key = run_id.int
    run = runs.take(key)
    if run is None:
        return
    if inputs is not None:
        run.inputs = inputs
    left = isinstance(error, GeneratorExit)
    run.partial = run.partial or left
    if isinstance(error, CancelledError) and run.request.recording:
        _cancel_inside(run)
    _end(run, key, ending, outputs, None if left else error)


def give_up(run: Run, error: BaseException | None = None, since: int = 0) -> None:
    """End a run that nobody else will, perhaps by an `error`; with a root, its question.

    `since`: when it was left, where that is known; nanoseconds since the epoch.
    """
    with run.request.lock:
        if runs.OPEN.get(run.key) is run and runs.take(run.key) is not None:  # a later question may have the same id
            run.partial = True
            _end(run, run.key, incomplete, None, error, since)


def end_open(provider: object) -> None:
    """End every question that writes to `provider`, as far as it came."""
    for root in runs.roots():
        if (root.request.options.provider or trace.get_tracer_provider()) is provider:
            give_up(root)


def incomplete(run: Run, _outputs: object, _ended: int) -> dict[str, Value]:
    """What can be said of a run that did not come to its end."""
    match run.kind:
        case "model":
            return generation_ended(run, None, 0)
        case "retriever":
            return retrieval_ended(run, None, 0)
        case "chain" | "tool":
            return {}


def _end(
    run: Run, key: int, ending: Ending, outputs: object, error: BaseException | None = None, since: int = 0
) -> None:
    request = run.request
    request.touched = now = max(since, request.touched) if since else time.time_ns()
    if not request.recording:
        if key == run.key:  # the root itself: its runs stand for one another
            runs.leftovers(request)
        return
    with request.lock:
        if run.parent is None:
            _end_inside(run, now)
            settle_shares(request, failed=error is not None)
        _end_one(run, now, ending, outputs, error)


def _cancel_inside(run: Run) -> None:
    """What is still open in a run that was cancelled ends with it: whoever asked may go on without them."""
    request, now = run.request, time.time_ns()
    if run.parent is None:
        run.partial = run.partial or request.cut
        return
    with request.lock:
        for inner in runs.leftovers(request, run):
            request.cut = request.cut or inner.kind == "model"
            inner.partial = True
            _end_one(inner, now, incomplete, None, None)


def _end_inside(root: Run, now: int) -> None:
    """What is still open when a question ends, ends with it."""
    for run in runs.leftovers(root.request):
        run.partial = root.left = True
        root.partial = root.partial or (run.kind == "model" and run.retriever is None)
        _end_one(run, now, incomplete, None, None)


def _end_one(run: Run, now: int, ending: Ending, outputs: object, error: BaseException | None) -> None:
    if run.request.peers is not None:
        find_theirs(run)
    steered = error is not None and is_control_flow(error)
    said: dict[str, Value] = {}
    try:
        if run.node is None:
            said = ending(run, outputs, now)
        else:
            command = None if error is None else handed_up(error)
            said = ending(run, written(outputs), now) if command is None else step_ended(run, written(command), now)
            said.update(encode_node(run.node, _node_outcome(run, error)))
            if error is None or command is not None:
                leave(run)
        if run.parent is None:
            said.update(_answer(run, None if steered else error, outputs))
    except Exception as fault:  # the span must end all the same
        log_once(f"the end of a {run.kind}", fault)
    if run.spanned:
        end_span(run, now, said, None if steered else error)
    if error is not None:
        _remember(run, error, steered=steered)
    elif run.parent is None:
        stop_graph(run)


def _remember(run: Run, error: BaseException, *, steered: bool) -> None:
    """What a later run may go on with."""
    if run.node is not None and is_interrupt(error):
        pause_node(run)
    elif run.node is not None and not steered:
        fail_node(run)
    elif run.parent is None and not steered and run.request.failed:
        fail_graph(run.request)


def _node_outcome(run: Run, error: BaseException | None) -> NodeOutcome | None:
    if error is not None and is_interrupt(error):
        return "interrupted"
    if run.partial:
        return None
    if error is not None and not is_control_flow(error):
        return "error"
    if run.links and run.node is not None:
        pauses.forget(run.request.thread, run.node.task_id)
        return "recovered" if run.recovering else "answered"
    return "no_write" if run.empty and error is None else "ok"


def _broken_off(root: Run, outputs: object) -> bool:
    """Whether nobody read a stream to its end: LangChain ends it as if it were whole, while steps inside are open.

    Unless it returned what a model had written by then, with a step still busy that nobody waits for.
    """
    if not (root.streamed and root.left) or is_written(root.request, outputs):
        return False
    root.partial = True
    return True


def _answer(root: Run, error: BaseException | None, outputs: object) -> dict[str, Value]:
    request = root.request
    answer, inferred = None, ()
    if error is not None:
        answer = Answer(outcome=request.told.outcome or "error", confidence=request.told.confidence)
    elif root.kind in ("chain", "model") and not (root.partial and outputs is None) and not _broken_off(root, outputs):
        answer, inferred = answer_of(request, outputs)
    else:  # a search or a tool alone, or a stream that nobody read to its end
        answer = told_of(request)
    late = None
    if request.asked is None:
        request.asked = question_in(root.inputs)
        late = question_of(request)
    said = Root(
        identity=request.told.identity,
        thread_id=request.thread,
        question=late,
        answer=answer,
        verdicts=request.told.verdicts,
        paused_at=request.paused_at,
        resumed_at=request.resumed_at,
        resumed=True if request.resumed and request.resumed_at is None else None,
    )
    out = encode_root(said, request.options.policy.max_items)
    if inferred:
        out[a.INFERRED] = inferred
    return out
