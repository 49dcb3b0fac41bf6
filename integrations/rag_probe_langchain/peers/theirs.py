"""The span that another instrumentation made for one of our runs."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from opentelemetry.trace import NonRecordingSpan, Span, set_span_in_context

from rag_probe.faults import log_once
from rag_probe_langchain.peers.looking import Peers
from rag_probe_langchain.run import Run

_APART: Final = 10_000_000_000
"""Nanoseconds that one start may be heard apart: where theirs is heard in an executor, as long as that is busy."""


def find_theirs(run: Run) -> None:
    """Note it on the run, if there is one and it is not noted yet; never raises.

    Asked at the start and at the end of a run, since their handler may come before ours or after it: then it has not
    begun the span yet, or has ended it already. Without `beside` only a question's root is asked for, so that both
    stand in one trace.
    """
    request = run.request
    if run.theirs is not None or request.peers is None or not (run.parent is None or request.options.beside):
        return
    try:
        span = _span(request.peers, UUID(int=run.key))
    except Exception as error:  # its names have moved
        log_once("a look at another instrumentation's span", error)
        return
    if span is not None:
        parent = NonRecordingSpan(span.get_span_context())  # theirs itself may hold a prompt: it is not kept
        run.theirs = set_span_in_context(parent, request.context)
        _start_no_sooner(run, span)


def _span(peers: Peers, run_id: UUID) -> Span | None:
    for look in peers.looks:
        span = look(run_id)
        if span is not None and span.get_span_context().is_valid and _goes_with_ours(span, peers):
            return span
    return None


def _start_no_sooner(run: Run, span: Span) -> None:
    """Callbacks hear the start of a run one after the other, and its body waits for all of them.

    So what hangs under theirs does not begin before it.
    """
    started = getattr(span, "start_time", None)
    if isinstance(started, int) and run.started < started < run.started + _APART:
        run.started = started


def _goes_with_ours(span: Span, peers: Peers) -> bool:
    """Whether it is exported together with ours, as far as can be seen."""
    resource = getattr(span, "resource", None)
    return resource is None or peers.resource is None or resource is peers.resource
