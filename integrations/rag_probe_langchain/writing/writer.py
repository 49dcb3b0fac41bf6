"""From what is known of a run, or of a stage, to its span; spans are started nowhere else but in ended.py."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from opentelemetry.context import Context
from opentelemetry.trace import (
    Link,
    NonRecordingSpan,
    Span,
    SpanKind,
    Status,
    StatusCode,
    Tracer,
    get_current_span,
    set_span_in_context,
)

from rag_probe import attributes as a
from rag_probe.attributes import Attributes, Value
from rag_probe.faults import blame_once, error_type, message_of
from rag_probe.wellformed import well_formed
from rag_probe.wire.limits import limit_of, within
from rag_probe_langchain.opening import opening, stage_title, title
from rag_probe_langchain.peers.theirs import find_theirs
from rag_probe_langchain.request import Request, StageSpan
from rag_probe_langchain.run import Run

if TYPE_CHECKING:
    from rag_probe_langchain.writing.ended import EndedSpans

_SDK: Final = "opentelemetry.sdk.trace"


class Writer:
    """Writes the spans of questions as their only account; every method is called under the question's lock."""

    def __init__(self, tracer: Tracer) -> None:
        self.tracer = tracer
        self.limit = limit_of(tracer)
        """Characters that a value may have; None: any."""
        self._ended = _ended_spans_of(tracer)
        self.choosy = False
        """Whether a sampler has refused a question before."""

    def span_of(self, run: Run) -> Span:
        """The span of a run, started if it was not; of a question that is not traced, its root's."""
        root = run.request.root
        if not run.request.traced and root is not None and root.span is not None:
            return root.span
        return run.span or self.start(run)

    def write(self, ended: Run | StageSpan) -> Span:
        """The whole span of a run, or of a stage that is no run."""
        return self._run(ended) if isinstance(ended, Run) else self._stage(ended)

    def start(self, run: Run) -> Span:
        """With all attributes at once when the run has ended already."""
        request = run.request
        if request.peers is not None:
            find_theirs(run)
        final = run.final or {}
        repeats = run.parent is not None and a.OPERATION in final  # all that the opening would say
        said = self.hung(run.parent, final if repeats else {**opening(run), **final})
        run.told = bool(final)
        context = run.theirs or self.inside(run.parent, request)
        links = request.links if run.parent is None else run.links
        name, kind = self.title(run), self.kind(run)
        run.span = self._begun(request, name, context, kind, said, links, run.started, ended=run.ended > 0)
        if run.parent is None and not run.span.is_recording():
            request.traced = False
            request.recording = request.meter is not None
            self.choosy = True
        return run.span

    def inside(self, run: Run | None, request: Request) -> Context:
        """The context of the nearest span around what stands in `run`."""
        while run is not None:
            context = self.context_of(run)
            if context is not None:
                return context
            run = run.parent
        return request.context

    title = staticmethod(title)
    """The name of a run's span."""
    stage_title = staticmethod(stage_title)
    """The same for a stage that is no run."""

    @staticmethod
    def kind(run: Run) -> SpanKind:
        """Of a run's span."""
        return SpanKind.CLIENT if run.kind == "model" else SpanKind.INTERNAL

    def worded(self, attributes: dict[str, Value]) -> dict[str, Value]:
        """What is written of what is to be said: all but what would be cut."""
        return attributes if self.limit is None else within(attributes, self.limit)

    def hung(self, around: Run | None, attributes: dict[str, Value]) -> dict[str, Value]:  # noqa: ARG002
        """The same for a span that starts, inside the run `around`."""
        return self.worded(attributes)

    def fail(self, run: Run, span: Span, error: BaseException) -> None:
        """The step that a span stands for has failed."""
        policy = run.request.options.policy
        said = policy.text(message_of(error)) if policy.content else None
        span.set_status(Status(StatusCode.ERROR, said or None))

    def context_of(self, run: Run) -> Context | None:
        """For what stands directly in `run`; None where it has no span."""
        if run.context is None and run.spanned:
            run.context = set_span_in_context(self.span_of(run), run.request.context)
        return run.context

    def current_of(self, run: Run, shown: Run) -> Span | None:
        """The span that is the ambient one while the body of `run` runs, `shown` being the nearest run with a span."""
        request = run.request
        if request.peers is not None:
            find_theirs(run)
        if request.root is not None:  # asked first: it may be refused, and all below it with it
            self.span_of(request.root)
        return self.span_of(shown)

    def _run(self, run: Run) -> Span:
        span = run.span or self.start(run)
        if run.final and not run.told:
            span.set_attributes(self.worded(run.final))
        if run.error is not None:
            span.set_attribute(a.ERROR_TYPE, error_type(run.error))
            self.fail(run, span, run.error)
        _end(span, run.ended)
        return span

    def _stage(self, stage: StageSpan) -> Span:
        run, request = stage.run, stage.run.request
        said = self.hung(run, stage.attributes)
        name, context = self.stage_title(stage), self.inside(run, request)
        span = self._begun(request, name, context, SpanKind.INTERNAL, said, (), stage.started, ended=True)
        if a.ERROR_TYPE in stage.attributes:
            span.set_status(Status(StatusCode.ERROR))
        _end(span, stage.ended)
        return span

    def _begun(
        self,
        request: Request,
        name: str,
        context: Context,
        kind: SpanKind,
        attributes: Attributes,
        links: Sequence[Link],
        started: int,
        *,
        ended: bool,
    ) -> Span:
        """A new span; where the app's processor or sampler raised, none, in its parent's place: so the others hang."""
        name = well_formed(name)
        try:
            if ended and not links and self._ended is not None:
                span = self._ended.start(name, context, kind, attributes, started)
                if span is not None:
                    return span
            return self.tracer.start_span(name, context, kind, attributes, links, started)
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


def _ended_spans_of(tracer: Tracer) -> EndedSpans | None:
    """None without the SDK, which is not imported for it."""
    if type(tracer).__module__ != _SDK:
        return None
    from rag_probe_langchain.writing.ended import ended_spans_of

    return ended_spans_of(tracer)
