"""The only user of the tracing API: a run's span is started when its first child or it itself ends, parents first.

Every function is called under the request's lock. Nothing is ever attached to the ambient context.
"""

from __future__ import annotations

from typing import Final
from weakref import WeakKeyDictionary

from opentelemetry.context import Context
from opentelemetry.trace import (
    Link,
    SpanContext,
    SpanKind,
    Status,
    StatusCode,
    Tracer,
    TracerProvider,
    set_span_in_context,
)

from rag_probe import attributes as a
from rag_probe.attributes import Value
from rag_probe.version import VERSION
from rag_probe_langchain.opening import opening, title
from rag_probe_langchain.request import Request
from rag_probe_langchain.run import Run

_tracers: Final[WeakKeyDictionary[TracerProvider, dict[str, Tracer]]] = WeakKeyDictionary()


def tracer_of(provider: TracerProvider, scope: str) -> Tracer:
    """One tracer per provider and scope."""
    known = _tracers.setdefault(provider, {})
    tracer = known.get(scope)
    if tracer is None:
        tracer = known[scope] = provider.get_tracer(scope, VERSION)
    return tracer


def is_recording(run: Run) -> bool:
    """Whether the question of `run` is recorded at all: its root's span is started to find out."""
    request = run.request
    if request.recording is None and request.root is not None:
        _start(request.root, opening(request.root))
    return request.recording is True


def end_span(run: Run, ended: int, attributes: dict[str, Value], error: BaseException | None = None) -> None:
    """End the span of a run once; it is started only now if nothing inside it had a span."""
    if run.ended:
        return
    run.ended = True
    if run.partial:
        attributes[a.PARTIAL] = True
    if run.span is None:
        _start(run, {**opening(run), **attributes})
    elif attributes:
        run.span.set_attributes(attributes)
    assert run.span is not None
    if error is not None:
        run.span.set_attribute(a.ERROR_TYPE, error_name(error))
        run.span.set_status(Status(StatusCode.ERROR, run.request.options.policy.text(str(error))))
    run.span.end(ended)


def stage_span(
    above: Run | None, request: Request, name: str, attributes: dict[str, Value], started: int, ended: int
) -> None:
    """A whole span of a stage inside the run `above`; attributes hold its error, if any."""
    context = request.context if above is None else _context(above)
    span = request.tracer.start_span(name, context, SpanKind.INTERNAL, attributes, start_time=started)
    if a.ERROR_TYPE in attributes:
        span.set_status(Status(StatusCode.ERROR))
    span.end(ended)


def beside(run: Run, kind: str, attributes: dict[str, Value], ended: int, *, late: bool = False) -> None:
    """The span of a stage that a step turned out to be: in place of the step, or under it where it has a span.

    `late`: the step went on from what a stage inside it had let through.
    """
    started = run.inner_end if late else run.started
    name = "retrieval" if kind == "retrieval" else f"rag.{kind} {run.name}"
    stage_span(run if run.spanned else run.above, run.request, name, attributes, started, ended)


def link_root(request: Request, paused: SpanContext) -> None:
    """Link the root of a question to the root of the run that it goes on with."""
    if any(link.context == paused for link in request.links):
        return
    request.links.append(Link(paused))
    if request.root is not None and request.root.span is not None:
        request.root.span.add_link(paused)


def error_name(error: BaseException) -> str:
    """The exception's type with its module, as `error.type` holds it. Its message is content."""
    kind = type(error)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def _start(run: Run, attributes: dict[str, Value]) -> None:
    request = run.request
    context = request.context if run.above is None else _context(run.above)
    kind = SpanKind.CLIENT if run.kind == "model" else SpanKind.INTERNAL
    links = request.links if run.parent is None else run.links
    run.span = request.tracer.start_span(title(run), context, kind, attributes, links, run.started)
    if run.parent is None:
        request.recording = run.span.is_recording()


def _context(run: Run) -> Context:
    if run.context is None:
        if run.span is None:
            _start(run, opening(run))
        assert run.span is not None
        run.context = set_span_in_context(run.span, run.request.context)
    return run.context
