"""A span that is made whole is the span that the SDK would have written (issue B, speed)."""

from __future__ import annotations

import itertools
import sys
from uuid import uuid4

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from opentelemetry.attributes import BoundedAttributes
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import (
    ConcurrentMultiSpanProcessor,
    ReadableSpan,
    SpanLimits,
    SpanProcessor,
    TracerProvider,
)
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor, SpanExporter
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.id_generator import IdGenerator, RandomIdGenerator
from opentelemetry.sdk.trace.sampling import (
    ALWAYS_OFF,
    ALWAYS_ON,
    DEFAULT_OFF,
    DEFAULT_ON,
    Decision,
    Sampler,
    SamplingResult,
    TraceIdRatioBased,
)
from opentelemetry.trace import (
    INVALID_SPAN_CONTEXT,
    NonRecordingSpan,
    SpanContext,
    SpanKind,
    Status,
    StatusCode,
    TraceFlags,
    Tracer,
    get_current_span,
    set_span_in_context,
)
from opentelemetry.trace.span import TraceState

from rag_probe.delivery import Delivery, Outlet
from rag_probe_langchain import RagProbeCallbackHandler, begin, finish, runs
from rag_probe_langchain.writing.ended import EndedSpan, EndedSpans, ended_spans_of
from rag_probe_langchain.writing.writer import Writer
from tests.rag_probe_langchain.apps import rag
from tests.rag_probe_langchain.recorded import Recorder
from tests.scenarios.recording import Recording


class Counted(IdGenerator):
    def __init__(self, random: bool):
        self.random = random
        self.ids = itertools.count(1)

    def generate_span_id(self):
        return next(self.ids)

    def generate_trace_id(self):
        return next(self.ids)

    def is_trace_id_random(self):
        return self.random


class Telling(Sampler):
    """Adds to what it was given, and changes the state of the trace."""

    def __init__(self, decision: Decision):
        self.decision = decision

    def should_sample(self, parent_context, trace_id, name, kind=None, attributes=None, links=None):
        if name.startswith("n"):  # as a sampler of an app might
            return SamplingResult(self.decision, None)
        said = {**(attributes or {}), "sampled.by": name, "sampled.kind": str(kind), "links": len(links or ())}
        return SamplingResult(self.decision, said, TraceState([("seen", "yes")]))

    def get_description(self):
        return "telling"


SCALARS = st.text() | st.booleans() | st.integers() | st.floats(allow_nan=False)
ROWS = st.lists(SCALARS).map(tuple) | st.lists(st.text()) | st.lists(st.integers() | st.none()).map(tuple)
ODD = st.none() | st.binary() | st.dictionaries(st.text(), st.integers()) | st.builds(object) | st.frozensets(st.text())
ATTRIBUTES = st.dictionaries(st.text(max_size=8), SCALARS | ROWS | ODD, max_size=12)
ADDED = st.dictionaries(st.text(min_size=1, max_size=8), SCALARS | ROWS | ODD, max_size=4)
SAMPLERS = st.sampled_from([ALWAYS_ON, ALWAYS_OFF, DEFAULT_ON, DEFAULT_OFF, TraceIdRatioBased(0.5)]) | st.builds(
    Telling, st.sampled_from(Decision)
)
STATES = st.sampled_from([None, TraceState([("vendor", "1")])])
PARENTS = st.builds(
    SpanContext, st.integers(0, 9), st.integers(0, 9), st.booleans(), st.integers(0, 3).map(TraceFlags), STATES
) | st.just(INVALID_SPAN_CONTEXT)
LIMITS = st.sampled_from(
    [
        SpanLimits(),
        SpanLimits(max_span_attributes=24),
        SpanLimits(max_span_attributes=12),
        SpanLimits(max_attributes=SpanLimits.UNSET),
    ]
)
STATUSES = st.sampled_from([None, Status(StatusCode.ERROR), Status(StatusCode.ERROR, "broken")])


def tracer_of(sampler: Sampler, limits: SpanLimits, *, random: bool) -> tuple[Tracer, InMemorySpanExporter]:
    exporter = InMemorySpanExporter()
    provider = TracerProvider(sampler, id_generator=Counted(random), span_limits=limits, shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return provider.get_tracer("scope", "1"), exporter


def seen(span: ReadableSpan) -> object:
    scope, context = span.instrumentation_scope, span.context
    return (
        span.name,
        context,
        span.parent,
        span.kind,
        list((span.attributes or {}).items()),
        {key: value for key, value in vars(span._attributes).items() if key != "_lock"},
        (span.dropped_attributes, span.dropped_events, span.dropped_links, span.events, span.links),
        (span.start_time, span.end_time, span.status.status_code, span.status.description),
        (scope and scope.name, scope and scope.version, span.resource),
    )


@example(ALWAYS_ON, SpanLimits(), False, INVALID_SPAN_CONTEXT, {"": "nameless"}, {}, None, SpanKind.CLIENT, "name")
@given(SAMPLERS, LIMITS, st.booleans(), PARENTS, ATTRIBUTES, ADDED, STATUSES, st.sampled_from(SpanKind), st.text())
def test_it_is_what_the_sdk_would_have_written(sampler, limits, random, parent, said, added, status, kind, name):
    context = set_span_in_context(NonRecordingSpan(parent), Context())
    exported, contexts = [], []
    for whole in (True, False):
        tracer, exporter = tracer_of(sampler, limits, random=random)
        ended = ended_spans_of(tracer)
        assert ended is not None
        if whole:
            span = ended.start(name, context, kind, {**said}, 5) or tracer.start_span(
                name, context, kind, {**said}, (), 5
            )
        else:
            span = tracer.start_span(name, context, kind, {**said}, (), 5)
        contexts.append((span.get_span_context(), span.is_recording()))
        for key, value in added.items():
            span.set_attribute(key, value)
        if status is not None:
            span.set_status(status)
        span.end(9)
        exported.append(exporter.get_finished_spans())
    assert contexts[0] == contexts[1]
    assert [seen(span) for span in exported[0]] == [seen(span) for span in exported[1]]


class Standing:
    """A clock that stands: how often it is looked at differs between two runs."""

    def time_ns(self):
        return 1_800_000_000_000_000_000


def test_what_is_exported_has_the_same_bytes():
    """Of whole questions too: with the SDK's own spans, and with ours."""
    batches = []
    for whole in (True, False):
        recording = Recording()
        with pytest.MonkeyPatch.context() as patch:
            for module in (begin, finish):
                patch.setattr(module, "time", Standing())
            if not whole:
                patch.setattr(EndedSpans, "start", lambda *_: None)
            rag().invoke("How long do I have?", {"callbacks": [recording.handler]})
        batches.append(encode_spans(recording.spans).SerializeToString(deterministic=True))
    assert batches[0] == batches[1]


def by_hand(span: ReadableSpan) -> None:
    span._attributes._dict["rag.question.length"] = "redacted"


def unfrozen(span: ReadableSpan) -> None:
    """As OpenLLMetry does it around an app's `span_postprocess_callback`."""
    span._attributes._immutable = False
    span._attributes["rag.question.length"] = "redacted"
    span._attributes._immutable = True


def anew(span: ReadableSpan) -> None:
    attributes = span._attributes
    assert isinstance(attributes, BoundedAttributes)
    span._attributes = BoundedAttributes(
        maxlen=attributes.maxlen,
        attributes={**attributes, "rag.question.length": "redacted"},
        immutable=attributes._immutable,
        max_value_len=attributes.max_value_len,
    )


@pytest.mark.parametrize("redact", [by_hand, unfrozen, anew])
def test_what_redacts_ended_spans_in_the_ways_of_the_sdk_redacts_these_too(redact):
    """Processors of apps reach for the private parts, since the SDK has no other way (checklist 97)."""

    class Redacting(SimpleSpanProcessor):
        def on_end(self, span):
            redact(span)
            super().on_end(span)

    exporter, provider = InMemorySpanExporter(), TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(Redacting(exporter))
    rag().invoke("How long do I have?", {"callbacks": [RagProbeCallbackHandler(tracer_provider=provider)]})
    (root,) = [span for span in exporter.get_finished_spans() if span.parent is None]
    assert len(exporter.get_finished_spans()) == 6
    assert root.attributes is not None
    assert root.attributes["rag.question.length"] == "redacted"


def test_it_ends_once_and_nothing_is_added_to_what_was_exported():
    tracer, exporter = tracer_of(ALWAYS_ON, SpanLimits(), random=True)
    span = start(ended_spans_of(tracer))
    assert isinstance(span, EndedSpan)
    assert span.is_recording()
    for late in (9, 10):
        span.end(late)
        span.set_attribute("late", late)
    assert not span.is_recording()
    assert [(each.end_time, dict(each.attributes or {})) for each in exporter.get_finished_spans()] == [(9, {})]


def test_processors_that_change_in_place_are_not_relied_on():
    provider = TracerProvider(shutdown_on_exit=False)
    provider._active_span_processor._span_processors = processors = []
    ended = ended_spans_of(provider.get_tracer("scope"))
    assert start(ended) is None
    processors.append(Hearing())
    assert start(ended) is None


class ReadingParents(Sampler):
    """An app's, which decides by what stands in the parent, as the SDK's own spans let it."""

    def should_sample(self, parent_context, trace_id, name, kind=None, attributes=None, links=None):
        above = get_current_span(parent_context)
        said = {"above": isinstance(above, ReadableSpan)}
        if isinstance(above, ReadableSpan):
            assert above.resource
            assert above.instrumentation_scope
            said |= {
                "name": above.name,
                "kind": above.kind.name,
                "told": str(dict(above.attributes or {})),
                "started": above.start_time or 0,
                "rest": str((above.end_time, above.parent, above.events, above.links, above.status.status_code)),
            }
        return SamplingResult(Decision.RECORD_AND_SAMPLE, said)

    def get_description(self):
        return "reading parents"


def parent_and_child(*, whole: bool) -> list[object]:
    tracer, exporter = tracer_of(ReadingParents(), SpanLimits(), random=True)
    ended = ended_spans_of(tracer)
    assert ended is not None

    def begun(name: str, context: Context):
        said = {"said": ("a",)}
        if not whole:
            return tracer.start_span(name, context, SpanKind.CLIENT, said, (), 5)
        span = ended.start(name, context, SpanKind.CLIENT, said, 5)
        assert span is not None
        return span

    parent = begun("parent", Context())
    begun("child", set_span_in_context(parent, Context())).end(7)
    parent.end(8)
    return [seen(span) for span in exporter.get_finished_spans()]


def test_a_sampler_reads_their_parents_as_it_reads_those_of_the_sdk():
    assert parent_and_child(whole=True) == parent_and_child(whole=False)


class Hearing(SpanProcessor):
    """An app's own, which wants to hear of starts."""

    def __init__(self):
        self.started = []

    def on_start(self, span, parent_context=None):
        self.started.append(span.name)


class Ending(SpanProcessor):
    def _on_ending(self, span):
        pass


class Quiet(SpanProcessor):
    """Hears ends alone."""

    def __init__(self):
        self.ended = []

    def on_end(self, span):
        self.ended.append(span.name)


def start(ended: EndedSpans | None) -> object:
    assert ended is not None
    return ended.start("name", Context(), SpanKind.INTERNAL, {}, 1)


def test_whoever_hears_of_starts_hears_of_them_from_the_moment_of_joining():
    recorder, hearing, quiet = Recorder(), Hearing(), Quiet()
    recorder.provider.add_span_processor(quiet)
    rag().invoke("?", recorder.config)
    recorder.provider.add_span_processor(hearing)
    assert hearing.started == []
    rag().invoke("?", recorder.config)
    assert sorted(hearing.started) == sorted(quiet.ended[len(quiet.ended) // 2 :])
    assert len(hearing.started) == 6


@pytest.mark.parametrize("processor", [Hearing, Ending])
def test_nothing_is_made_whole_where_a_start_is_heard(processor):
    provider = TracerProvider(shutdown_on_exit=False)
    assert start(ended_spans_of(provider.get_tracer("scope"))) is not None
    provider.add_span_processor(processor())
    assert start(ended_spans_of(provider.get_tracer("scope"))) is None


def test_a_processor_that_was_patched_is_one_of_the_apps():
    provider, processor = TracerProvider(shutdown_on_exit=False), Quiet()
    processor.on_start = lambda span, parent_context=None: None
    provider.add_span_processor(processor)
    assert start(ended_spans_of(provider.get_tracer("scope"))) is None


def test_the_usual_processors_and_our_own_hear_no_start():
    exporter: SpanExporter = InMemorySpanExporter()
    for processor in (SimpleSpanProcessor(exporter), BatchSpanProcessor(exporter), Outlet(Delivery(exporter, None))):
        provider = TracerProvider(shutdown_on_exit=False)
        provider.add_span_processor(processor)
        assert start(ended_spans_of(provider.get_tracer("scope"))) is not None
        provider.shutdown()


def test_a_tracer_of_another_kind_writes_as_it_does():
    class Wrapping:
        pass

    concurrent = TracerProvider(active_span_processor=ConcurrentMultiSpanProcessor(1), shutdown_on_exit=False)
    assert ended_spans_of(Wrapping()) is None
    assert ended_spans_of(concurrent.get_tracer("scope")) is None
    concurrent.shutdown()


def test_an_sdk_that_counts_its_spans_is_left_to_count_them(monkeypatch):
    monkeypatch.setenv("OTEL_PYTHON_SDK_INTERNAL_METRICS_ENABLED", "true")
    assert ended_spans_of(TracerProvider(shutdown_on_exit=False).get_tracer("scope")) is None


def test_a_tracer_that_is_switched_off_starts_nothing(monkeypatch):
    tracer = TracerProvider(id_generator=RandomIdGenerator(), shutdown_on_exit=False).get_tracer("scope")
    ended = ended_spans_of(tracer)
    monkeypatch.setattr(ended, "_is_enabled", lambda: False)
    assert start(ended) is None


@pytest.mark.parametrize(
    "limits", [SpanLimits(max_attributes=3), SpanLimits(max_span_attributes=0), SpanLimits(max_attribute_length=4)]
)
def test_what_an_sdk_would_cut_it_cuts_itself(limits):
    assert start(ended_spans_of(tracer_of(ALWAYS_ON, limits, random=True)[0])) is None


def test_the_writer_asks_no_sdk_where_there_is_none():
    from opentelemetry.trace import NoOpTracer

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "rag_probe_langchain.writing.ended", None)
        assert Writer(NoOpTracer()).limit is None


def test_a_span_that_is_written_before_its_end_is_the_sdks_own():
    """The app may add to it meanwhile, as to any that is the current one."""
    recorder, key = Recorder(), uuid4()
    recorder.handler.on_chain_start({}, "?", run_id=key, name="desk")
    run = runs.OPEN[key.int]
    run.request.writer.span_of(run).add_event("seen")
    recorder.handler.on_chain_end("a", run_id=key)
    (root,) = recorder.spans
    assert [event.name for event in root.events] == ["seen"]
