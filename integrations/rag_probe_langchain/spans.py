"""The spans of a question, written in bursts, since the cold code of an SDK is most of their price.

A finished run waits for its question's end, or for the first end of a run a quarter of a second later: a request that
takes long is seen while it runs, but for calls that wait (shares.py). Parents are started first, with the times at
which their runs really started. Where a sampler has refused a question, it is asked at the start of every later one.
Callbacks attach nothing to the ambient context; a body that is wrapped (bodies.py) asks for its span by `make_current`,
which starts it and those around it. What is written is measured too, where anybody listens to metrics; a question that
was refused is only measured.

Every function but `writer_of` and `make_current` is called under the question's lock.
"""

from __future__ import annotations

from typing import Final
from weakref import WeakKeyDictionary

from opentelemetry.context import attach
from opentelemetry.trace import Link, SpanContext, TracerProvider, get_current_span, set_span_in_context

from rag_probe import attributes as a
from rag_probe.attributes import Value
from rag_probe.faults import blame_once
from rag_probe.version import VERSION
from rag_probe_langchain.metering import measure_run, measure_stage
from rag_probe_langchain.options import Options
from rag_probe_langchain.request import Request, StageSpan
from rag_probe_langchain.run import Run
from rag_probe_langchain.writing import Writer, WriterBeside

PATIENCE: Final = 250_000_000
"""Nanoseconds for which a finished span may wait."""
_MANY: Final = 64
"""Finished spans that may wait."""

_writers: Final[WeakKeyDictionary[TracerProvider, dict[tuple[str, bool], Writer]]] = WeakKeyDictionary()


def writer_of(provider: TracerProvider, options: Options) -> Writer:
    """One per provider, scope and wording."""
    try:
        known = _writers.setdefault(provider, {})
    except TypeError:  # a provider that cannot be remembered
        known = {}
    key = (options.scope, options.beside)
    writer = known.get(key)
    if writer is None:
        kind = WriterBeside if options.beside else Writer
        writer = known[key] = kind(provider.get_tracer(options.scope, VERSION))
    return writer


def begin_root(root: Run) -> None:
    """Ask at once whether a question is recorded at all, where that is in doubt."""
    writer = root.request.writer
    if writer.choosy and (root.request.peers is None or root.theirs is not None):
        writer.start(root)


def end_span(run: Run, ended: int, attributes: dict[str, Value], error: BaseException | None = None) -> None:
    """End a run, once; its span may be written later, a root's is written now with all that waits."""
    if run.ended:
        return
    run.ended, run.final, run.error = ended, attributes, error
    if run.partial:
        attributes[a.PARTIAL] = True
    request = run.request
    if not run.waits:
        request.pending.append(run)
    if request.root is None or request.root.ended:  # of the root itself too, and of what was late by a hair
        flush(request)
    else:
        flush_if_due(request, ended)


def add_stage(run: Run, attributes: dict[str, Value], ended: int, *, late: bool = False) -> None:
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
        request.writer.span_of(request.root)
    for each in waiting if request.recording else ():
        try:
            if request.meter is not None:
                _measure(each, request)
            else:
                request.writer.write(each)
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


def make_current(run: Run) -> None:
    """Make the span of `run`, beside another instrumentation theirs, the ambient one; the caller restores the context.

    Of a run without a span, the nearest one around it, where the context was lost on the way, as in a bare thread.
    """
    request = run.request
    if not run.spanned and request.peers is None and _is_inside(request):
        return
    shown = run.shown()
    if shown is None:
        return
    with request.lock:
        span = request.writer.current_of(run, shown)
    if span is None:
        return
    said, ambient = span.get_span_context(), get_current_span().get_span_context()
    lost = shown is run or ambient.trace_id != said.trace_id
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
    context = request.context
    if request.traced:
        context = set_span_in_context(request.writer.write(each), context)
    if isinstance(each, Run):
        measure_run(request.meter, each, said, context)
    else:
        measure_stage(request.meter, each, context)
