"""The only user of the tracing API. Spans are written in bursts, since the cold code of an SDK is most of their price.

A finished run waits for its question's end, or for the first end of a run a quarter of a second later: a request that
takes long is seen while it runs. Parents are started first, with the times at which their runs really started. Where a
sampler has refused a question, it is asked at the start of every later one. Callbacks attach nothing to the ambient
context; a body that is wrapped (bodies.py) asks for its span by `make_current`, which starts it and those around it.
What is written is measured too, where anybody listens to metrics; a question that was refused is only measured.

Every function but `writer_of` and `make_current` is called under the question's lock.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from weakref import WeakKeyDictionary

from opentelemetry.context import Context, attach
from opentelemetry.trace import (
    Link,
    NonRecordingSpan,
    Span,
    SpanContext,
    SpanKind,
    Status,
    StatusCode,
    TracerProvider,
    format_span_id,
    get_current_span,
    set_span_in_context,
)

from rag_probe import attributes as a
from rag_probe.attributes import Value
from rag_probe.faults import blame_once, error_type, message_of
from rag_probe.version import VERSION
from rag_probe.wellformed import well_formed
from rag_probe.wire.beside import put_aside
from rag_probe.wire.limits import limit_of, within
from rag_probe_langchain.metering import measure_run, measure_stage
from rag_probe_langchain.opening import opening, stage_title, title
from rag_probe_langchain.peers.theirs import find_theirs
from rag_probe_langchain.request import Request, StageSpan, Writer
from rag_probe_langchain.run import Run

PATIENCE: Final = 250_000_000
"""Nanoseconds for which a finished span may wait."""
_MANY: Final = 64
"""Finished spans that may wait."""

_writers: Final[WeakKeyDictionary[TracerProvider, dict[str, Writer]]] = WeakKeyDictionary()


def writer_of(provider: TracerProvider, scope: str) -> Writer:
    """One tracer per provider and scope."""
    try:
        known = _writers.setdefault(provider, {})
    except TypeError:  # a provider that cannot be remembered
        known = {}
    writer = known.get(scope)
    if writer is None:
        tracer = provider.get_tracer(scope, VERSION)
        writer = known[scope] = Writer(tracer, limit_of(tracer))
    return writer


def begin_root(root: Run) -> None:
    """Ask at once whether a question is recorded at all, where that is in doubt."""
    if root.request.writer.choosy and (root.request.peers is None or root.theirs is not None):
        _start(root)


def end_span(run: Run, ended: int, attributes: dict[str, Value], error: BaseException | None = None) -> None:
    """End a run, once; its span may be written later, a root's is written now with all that waits."""
    if run.ended:
        return
    run.ended, run.final, run.error = ended, attributes, error
    if run.partial:
        attributes[a.PARTIAL] = True
    request = run.request
    request.pending.append(run)
    if request.root is None or request.root.ended:  # of the root itself too, and of what was late by a hair
        flush(request)
    else:
        flush_if_due(request, ended)


def beside(run: Run, attributes: dict[str, Value], ended: int, *, late: bool = False) -> None:
    """The span of a stage that a step turned out to be: in place of the step, or under it where it has a span.

    `late`: the step went on from what a stage inside it had let through.
    """
    run.request.pending.append(StageSpan(run, attributes, run.inner_end if late else run.started, ended))


def flush_if_due(request: Request, now: int) -> None:
    """Write what waits, when it has waited long enough."""
    first = request.pending[0] if request.pending else None
    if first is not None and (now - first.ended > PATIENCE or len(request.pending) >= _MANY):
        flush(request)


def flush(request: Request) -> None:
    """Write every span that has ended."""
    waiting, request.pending = request.pending, []
    if request.root is not None:
        span_of(request.root)
    for each in waiting if request.recording else ():
        try:
            if request.meter is not None:
                _measure(each, request)
            elif isinstance(each, Run):
                _write_run(each)
            else:
                _write_stage(each, request)
        except Exception as error:  # a provider's of another kind: the other spans are written all the same
            blame_once(error)


def link_root(request: Request, paused: SpanContext) -> None:
    """Link the root of a question to the root of the run that it goes on with."""
    root = request.root
    if root is None or any(link.context == paused for link in request.links):
        return
    request.links.append(Link(paused))
    if root.span is not None:
        root.span.add_link(paused)


def span_of(run: Run) -> Span:
    """The span of a run, started if it was not; of a question that is not traced, its root's."""
    root = run.request.root
    if not run.request.traced and root is not None and root.span is not None:
        return root.span
    return run.span or _start(run)


def make_current(run: Run) -> None:
    """Make the span of `run`, beside another instrumentation theirs, the ambient one; the caller restores the context.

    Of a run without a span, the nearest one around it, where the context was lost on the way, as in a bare thread.
    """
    request = run.request
    if not run.spanned and request.peers is None and _is_inside(request):
        return
    own = run.shown()
    if own is None:
        return
    with request.lock:
        if request.peers is not None:
            find_theirs(run)
            if request.options.beside and run.theirs is None and run.kind != "chain":
                return  # theirs comes, if ours is told of the run first, and must not find itself inside ours
        if request.root is not None:  # asked first: it may be refused, and all below it with it
            span_of(request.root)
        span = get_current_span(_inside(run, request)) if request.options.beside else span_of(own)
    said, ambient = span.get_span_context(), get_current_span().get_span_context()
    lost = own is run or ambient.trace_id != said.trace_id
    if said.is_valid and ambient.span_id != said.span_id and lost:
        attach(set_span_in_context(span))


def _is_inside(request: Request) -> bool:
    """Whether the ambient span belongs to the question's trace already: most steps run in the context of others."""
    root = request.root
    if root is None or root.span is None:
        return False
    return get_current_span().get_span_context().trace_id == root.span.get_span_context().trace_id


def _measure(each: Run | StageSpan, request: Request) -> None:
    """In the span's context where there is one, so that a figure can lead to its trace."""
    assert request.meter is not None
    said = each.final or {} if isinstance(each, Run) else each.attributes
    context = set_span_in_context(_write(each, request), request.context) if request.traced else request.context
    if isinstance(each, Run):
        measure_run(request.meter, each, said, context)
    else:
        measure_stage(request.meter, each, context)


def _write(each: Run | StageSpan, request: Request) -> Span:
    return _write_run(each) if isinstance(each, Run) else _write_stage(each, request)


def _write_run(run: Run) -> Span:
    span = run.span or _start(run)
    options = run.request.options
    if run.final and not run.told:
        said = run.final if run.request.writer.limit is None else within(run.final, run.request.writer.limit)
        span.set_attributes(put_aside(said) if options.beside else said)
    if run.error is not None:
        span.set_attribute(a.ERROR_TYPE, error_type(run.error))
        if not options.beside:  # there, theirs is the step that failed
            said = options.policy.text(message_of(run.error)) if options.policy.content else None
            span.set_status(Status(StatusCode.ERROR, said or None))
    _end(span, run.ended)
    return span


def _write_stage(stage: StageSpan, request: Request) -> Span:
    run = stage.run
    attributes = _worded(request, run, stage.attributes)
    context = _inside(run, request)
    name = well_formed(stage_title(stage))
    span = _begun(request, name, context, SpanKind.INTERNAL, attributes, (), stage.started)
    if a.ERROR_TYPE in stage.attributes:
        span.set_status(Status(StatusCode.ERROR))
    _end(span, stage.ended)
    return span


def _start(run: Run) -> Span:
    """With all attributes at once when the run has ended already."""
    request = run.request
    if request.peers is not None:
        find_theirs(run)
    final = run.final or {}
    repeats = run.parent is not None and a.OPERATION in final  # all that the opening would say
    attributes = final if repeats else {**opening(run), **final}
    run.told = bool(final)
    context = run.theirs or _inside(run.parent, request)
    kind = SpanKind.CLIENT if run.kind == "model" and not request.options.beside else SpanKind.INTERNAL
    links = request.links if run.parent is None else run.links
    said = _worded(request, run.parent, attributes)
    run.span = _begun(request, well_formed(title(run)), context, kind, said, links, run.started)
    if run.parent is None and not run.span.is_recording():
        request.traced = False
        request.recording = request.meter is not None
        request.writer.choosy = True
    return run.span


def _begun(
    request: Request,
    name: str,
    context: Context,
    kind: SpanKind,
    attributes: dict[str, Value],
    links: Sequence[Link],
    started: int,
) -> Span:
    """A new span; where the app's processor or sampler raised, none, in the place of its parent: so the others hang."""
    try:
        return request.writer.tracer.start_span(name, context, kind, attributes, links, started)
    except Exception as error:
        blame_once(error)
    if request.root is not None and request.root.span is not None:
        request.root.span.set_attribute(a.PARTIAL, True)
    return NonRecordingSpan(get_current_span(context).get_span_context())


def _end(span: Span, ended: int) -> None:
    try:
        span.end(ended)
    except Exception as error:  # as above: it has ended all the same
        blame_once(error)


def _worded(request: Request, inside: Run | None, attributes: dict[str, Value]) -> dict[str, Value]:
    """Without what would be cut; beside another instrumentation under our names, and with the parent among ours."""
    if request.writer.limit is not None:
        attributes = within(attributes, request.writer.limit)
    if not request.options.beside:
        return attributes
    said = put_aside(attributes)
    said[a.BESIDE] = True
    above = None if inside is None else inside.shown()
    if above is not None:
        said[a.PARENT] = format_span_id(span_of(above).get_span_context().span_id)
    return said


def _inside(run: Run | None, request: Request) -> Context:
    """The context of the nearest span around: ours, or beside another instrumentation the nearer of theirs and ours."""
    beside = request.options.beside
    while run is not None:
        if beside and run.theirs is not None:
            return run.theirs
        if run.spanned:
            return _context(run)
        run = run.parent
    return request.context


def _context(run: Run) -> Context:
    if run.context is None:
        run.context = set_span_in_context(span_of(run), run.request.context)
    return run.context
