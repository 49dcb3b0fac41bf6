"""`KeepCases` keeps every trace that carries a case, and leaves all others to the sampler it wraps."""

from __future__ import annotations

import pytest
from opentelemetry import baggage, trace
from opentelemetry.context import Context
from opentelemetry.propagate import extract, inject
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ALWAYS_ON, DEFAULT_OFF, ParentBased, TraceIdRatioBased
from opentelemetry.trace import TraceState

from rag_probe import KeepCases, attributes, case
from rag_probe.sampling import _mark

BASES = [ALWAYS_OFF, DEFAULT_OFF, TraceIdRatioBased(0.0), ParentBased(TraceIdRatioBased(0.0))]


def tracer(exporter, base):
    provider = TracerProvider(sampler=KeepCases(base), shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return provider.get_tracer("app")


def names(exporter):
    return [span.name for span in exporter.get_finished_spans()]


@pytest.mark.parametrize("base", BASES, ids=lambda base: base.get_description())
def test_a_case_is_kept_whole_and_nothing_else_is(exporter, base):
    spans = tracer(exporter, base)
    with case("c", experiment="e"):
        root = spans.start_span("root")
    child = spans.start_span("child", trace.set_span_in_context(root, Context()))
    grandchild = spans.start_span("grandchild", trace.set_span_in_context(child, Context()))
    other = spans.start_span("other")
    for span in (grandchild, child, root, other):
        span.end()
    assert names(exporter) == ["grandchild", "child", "root"]
    assert not other.is_recording()


def test_a_service_that_is_called_keeps_it_too_although_its_caller_was_not_sampled(exporter):
    headers = {}
    with case("c", experiment="e"):
        inject(headers)
    headers["traceparent"] = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"
    headers["tracestate"] = "theirs=1"
    span = tracer(exporter, DEFAULT_OFF).start_span("served", extract(headers, context=Context()))
    span.end()
    assert names(exporter) == ["served"]
    assert span.get_span_context().trace_state.to_header() == "ragprobe=case,theirs=1"
    assert format(span.get_span_context().trace_id, "032x") == "4bf92f3577b34da6a3ce929d0e0e4736"


def test_without_a_case_the_base_decides(exporter):
    attributed = tracer(exporter, ALWAYS_ON).start_span("s", attributes={"a": 1})
    attributed.end()
    assert exporter.get_finished_spans()[0].attributes == {"a": 1}
    assert not attributed.get_span_context().trace_state


def test_attributes_of_a_kept_span_stay(exporter):
    with case("c", experiment="e"):
        tracer(exporter, ALWAYS_OFF).start_span("s", attributes={"a": 1}).end()
    assert exporter.get_finished_spans()[0].attributes == {"a": 1}


def test_a_hostile_case_id_keeps_nothing(exporter):
    context = baggage.set_baggage(attributes.CASE_ID, "x" * 5000, Context())
    assert not tracer(exporter, ALWAYS_OFF).start_span("s", context).is_recording()


def test_a_full_trace_state_stays_as_it_is():
    full = TraceState([(f"k{number}", "v") for number in range(32)])
    assert _mark(full) is full


def test_its_description_names_the_base():
    assert KeepCases(ALWAYS_OFF).get_description() == "KeepCases{AlwaysOffSampler}"
