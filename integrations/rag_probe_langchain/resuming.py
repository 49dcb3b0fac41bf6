"""A question that pauses for somebody's word or fails, and the run that goes on with it."""

from __future__ import annotations

from uuid import UUID

from opentelemetry.trace import SpanContext

from rag_probe.identifiers import identifier
from rag_probe.stages import Node
from rag_probe_langchain import pauses, runs
from rag_probe_langchain.pauses import Pause
from rag_probe_langchain.request import Request
from rag_probe_langchain.run import Run
from rag_probe_langchain.spans import flush, link_root
from rag_probe_langchain.steering import goes_on

_MADE = 2
"""Model calls that are remembered over a pause."""
_FAILED = 4
"""Failed nodes that are remembered: of a graph inside a node, both failed."""


def pause_node(run: Run) -> None:
    """A node asked and waits."""
    if not _is_inside_node(run):
        run.request.paused = True
    if run.node is not None:
        flush(run.request)
        _remember(run.request, run.node.task_id, _context(run))


def fail_node(run: Run) -> None:
    """A node failed: if its question does too, a later run may go on from there."""
    if run.node is not None and run.node.task_id is not None and run.request.thread is not None:
        run.request.failed[run.node.task_id] = run


def fail_graph(request: Request) -> None:
    """A question failed, and its spans are written."""
    for task, run in list(request.failed.items())[-_FAILED:]:
        _remember(request, task, _context(run), failed=True)


def pause_graph(run_id: UUID | None, checkpoint_id: str) -> None:
    """A graph stops at a checkpoint, also where no node asked (`interrupt_before`, `interrupt_after`)."""
    run = None if run_id is None else runs.OPEN.get(run_id.int)
    if run is None or _is_inside_node(run):
        return
    with run.request.lock:
        run.request.paused = True
        run.request.paused_at = identifier(checkpoint_id)
        flush(run.request)
        shown = run.shown()
        if run.request.recording and shown is not None:
            _remember(run.request, checkpoint_id, _context(shown))


def resume_graph(run_id: UUID | None, checkpoint_id: str) -> None:
    """A graph goes on from a checkpoint, which may have been written by another process."""
    run = None if run_id is None else runs.OPEN.get(run_id.int)
    if run is None:
        return
    with run.request.lock:
        run.request.resumed_at = identifier(checkpoint_id)
        pause = pauses.find(run.request.thread, checkpoint_id)
        if pause is None:
            run.request.resumed = True
        else:
            pauses.forget(run.request.thread, checkpoint_id)
            resume(run.request, pause)


def stop_graph(root: Run) -> None:
    """A question ended well: a graph may have stopped there, before a node or after it (`interrupt_before`, …)."""
    request = root.request
    if request.thread is not None:
        span = None if root.span is None else root.span.get_span_context()
        pauses.stopped(request.thread, root.name, request.step, span, paused=request.paused)


def resume_after(request: Request, node: Node) -> None:
    """The first node of a graph that was given nothing: the last run of its thread goes on, if that may be.

    Unless the caller said where to go on. A plain handler is told nothing of all this.
    """
    root, stop = request.root, pauses.take_stop(request.thread)
    if root is None or not goes_on(root.inputs):
        return
    request.resumed = True
    if stop is None or root.inputs is not None or "checkpoint_id" in root.metadata:
        return
    if stop.comes_before(root.name, node.step):
        with request.lock:
            link_root(request, stop.root)


def resume(request: Request, pause: Pause) -> None:
    """Link a question to the run that it goes on with, and remember what was written there."""
    if not request.made:
        request.made.extend(pause.made)
    request.resumed = True
    link_root(request, pause.root)


def _is_inside_node(run: Run) -> bool:
    """Whether the graph around it runs in a node, which will be interrupted too, or goes on with other things."""
    outer = run.parent
    while outer is not None and outer.node is None:
        outer = outer.parent
    return outer is not None


def _remember(request: Request, task: str | None, span: SpanContext, *, failed: bool = False) -> None:
    if request.root is not None:
        pauses.remember(request.thread, task, span, _context(request.root), tuple(request.made[-_MADE:]), failed=failed)


def _context(run: Run) -> SpanContext:
    return run.request.writer.span_of(run).get_span_context()
