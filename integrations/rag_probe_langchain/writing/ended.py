"""Spans that have ended before they are written are made whole: the SDK's way from a start to an end is dearer.

Only where nobody can tell the difference: the tracer is the SDK's own, and its span processors hear of no start. What
the SDK would do to attributes that are not plain it is asked to do here too. Whoever asks gets None anywhere else.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from opentelemetry.context import Context
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, SynchronousMultiSpanProcessor, Tracer
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import (
    NonRecordingSpan,
    Span,
    SpanContext,
    SpanKind,
    Status,
    StatusCode,
    TraceFlags,
    get_current_span,
)
from opentelemetry.util.types import AnyValue

from rag_probe.attributes import Attributes, Value
from rag_probe_langchain.writing.attributes import kept

_UNSET: Final = Status(StatusCode.UNSET)
_RANDOM: Final[int] = getattr(TraceFlags, "RANDOM_TRACE_ID", 0)
_FLAGS: Final = tuple(TraceFlags(flags) for flags in range(4))
_ROOM: Final = 8
"""Attributes that a sampler or an end may add."""
_DEAF: Final = (SpanProcessor, BatchSpanProcessor, SimpleSpanProcessor)
"""Processors that do nothing when a span starts."""
_STARTS: Final = ("on_start", "_on_ending")


class EndedSpan(ReadableSpan, NonRecordingSpan):
    """A span whose end is known; what is said of it until `end` is written with it.

    It can be read meanwhile, as samplers of apps do with the parent of what they are asked about.
    """

    _end_time = None
    _events = _links = ()

    def __init__(
        self,
        maker: EndedSpans,
        name: str,
        context: SpanContext,
        parent: SpanContext | None,
        kind: SpanKind,
        attributes: dict[str, Value],
        started: int,
    ) -> None:
        self._maker = maker  # what the classes above would do, but for what is the tracer's
        self._name = name
        self._context: SpanContext = context
        self._parent = parent
        self._kind = kind
        self._attributes: dict[str, AnyValue] = attributes  # pyright: ignore[reportAttributeAccessIssue] - of values
        self._start_time = started
        self._status = _UNSET
        self._over = False

    @property
    def resource(self) -> Resource:
        """The tracer's."""
        return self._maker.tracer.resource

    @property
    def instrumentation_scope(self) -> InstrumentationScope | None:
        """The tracer's."""
        return self._maker.scope

    def get_span_context(self) -> SpanContext:
        """Never None."""
        return self._context

    def is_recording(self) -> bool:
        """A sampler has let it pass, and it has not ended."""
        return not self._over

    def set_attribute(self, key: str, value: AnyValue) -> None:
        """As the SDK does it: what is said anew is said last, and nothing after the end."""
        if self._over:
            return
        self._attributes.pop(key, None)
        self._attributes[key] = value  # what is no value is cleaned at the end

    def set_attributes(self, attributes: Mapping[str, AnyValue]) -> None:
        """The same for several."""
        for key, value in attributes.items():
            self.set_attribute(key, value)

    def set_status(self, status: Status | StatusCode, description: str | None = None) -> None:
        """Once."""
        self._status = status if isinstance(status, Status) else Status(status, description)

    def end(self, end_time: int | None = None) -> None:
        """Hand it to the span processors, once; raises what one of them does."""
        if self._over:
            return
        self._over = True
        maker, tracer = self._maker, self._maker.tracer
        whole = ReadableSpan(
            self._name,
            self._context,
            self._parent,
            tracer.resource,
            kept(self._attributes, maker.limit),
            (),
            (),
            self._kind,
            tracer.instrumentation_info,
            self._status,
            self._start_time,
            end_time,
            maker.scope,
        )
        maker.processors.on_end(whole)


class EndedSpans:
    """Makes spans as one tracer of the SDK would."""

    def __init__(self, tracer: Tracer, processors: SynchronousMultiSpanProcessor) -> None:
        """`processors`: those of `tracer`."""
        self.tracer = tracer
        self.processors = processors
        self._looked_at: object = None
        """The tuple of processors that was looked at last: another one, whenever one is added."""
        self._deaf = False
        self._is_enabled: Callable[[], bool] = getattr(tracer, "_is_enabled", lambda: True)
        self.scope: InstrumentationScope | None = getattr(tracer, "_instrumentation_scope", None)
        limits = getattr(tracer, "_span_limits", None)
        self._most = _most(limits)
        self.limit: int | None = getattr(limits, "max_span_attributes", None)

    def start(
        self, name: str, context: Context, kind: SpanKind, attributes: Attributes, started: int
    ) -> EndedSpan | Span | None:
        """What `Tracer.start_span` would give; None where somebody wants to hear of the start."""
        if len(attributes) > self._most or not (self._hears_no_start() and self._is_enabled()):
            return None
        tracer, ids = self.tracer, self.tracer.id_generator
        parent = get_current_span(context).get_span_context()
        if parent.is_valid:
            trace_id = parent.trace_id
            flags = parent.trace_flags & _RANDOM
        else:
            parent = None
            trace_id = ids.generate_trace_id()
            flags = _RANDOM if _RANDOM and ids.is_trace_id_random() else 0
        sampled = tracer.sampler.should_sample(context, trace_id, name, kind, attributes, ())
        flags |= sampled.decision.is_sampled()
        made = SpanContext(trace_id, ids.generate_span_id(), False, _FLAGS[flags], sampled.trace_state)
        if not sampled.decision.is_recording():
            return NonRecordingSpan(made)
        return EndedSpan(self, name, made, parent, kind, {**(sampled.attributes or {})}, started)  # pyright: ignore[reportUnknownMemberType, reportArgumentType] - the sampler's, or ours

    def _hears_no_start(self) -> bool:
        processors: Sequence[SpanProcessor] | None = getattr(self.processors, "_span_processors", None)
        if processors is not self._looked_at:
            fixed = isinstance(processors, tuple)  # what changes in place cannot be looked at once
            self._deaf = fixed and all(map(_is_deaf, processors or ()))
            self._looked_at = processors
        return self._deaf


def ended_spans_of(tracer: object) -> EndedSpans | None:
    """For a tracer of the SDK's own kind that counts no spans; None for others."""
    if type(tracer) is not Tracer:
        return None
    processors = tracer.span_processor
    counts = type(getattr(tracer, "_tracer_metrics", None)).__name__ not in ("NoneType", "NoOpTracerMetrics")
    return None if counts or type(processors) is not SynchronousMultiSpanProcessor else EndedSpans(tracer, processors)


def _is_deaf(processor: SpanProcessor) -> bool:
    return all(
        name not in vars(processor) and any(_said(processor, name) is getattr(kind, name, None) for kind in _DEAF)
        for name in _STARTS
    )


def _said(processor: SpanProcessor, name: str) -> object:
    return getattr(type(processor), name, None)


def _most(limits: object) -> int:
    """With how many attributes a span may start to be sure to stay whole; never, where values are cut."""
    most = getattr(limits, "max_span_attributes", None)
    if limits is None or getattr(limits, "max_span_attribute_length", None) is not None:
        return -1
    return most - _ROOM if isinstance(most, int) else sys.maxsize
