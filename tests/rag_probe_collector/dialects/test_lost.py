"""An SDK whose limits are too low for a span drops the oldest attributes: what is missing is not said to be empty."""

from __future__ import annotations

import logging

import pytest
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from rag_probe import attributes as a
from rag_probe.protocols import Selection
from rag_probe_collector.otlp.json import parse_otlp_json
from rag_probe_langchain import RagProbeCallbackHandler
from tests.rag_probe_collector.spans import S, request, source, workflow
from tests.rag_probe_langchain.apps import rag


def path(beside=False, **limits):
    """The chain's path under these limits."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(span_limits=SpanLimits(**limits), shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    logging.getLogger("opentelemetry.attributes").setLevel(logging.ERROR)
    handler = RagProbeCallbackHandler(tracer_provider=provider, beside=beside)
    rag().invoke("How long do I have?", {"callbacks": [handler]})
    (found,) = source(encode_spans(exporter.get_finished_spans())).paths(Selection())
    return found


WHOLE = path()
LISTS = ("retrieved", "filtered", "permissions", "context", "citations")


def test_with_the_limits_as_they_are_nothing_is_lost():
    assert list(WHOLE.retrieved.ids) == ["returns", "sale", "gift", "staff", "old"]
    assert not {"retrieved", "filtered", "permissions", "citations"} & set(WHOLE.not_captured)


@pytest.mark.parametrize("beside", [False, True])
@pytest.mark.parametrize("limit", range(1, 40))
def test_what_may_be_missing_is_named(limit, beside):
    """contracts 2: absent means not captured, and is named; what is there, is what it was."""
    cut = path(beside, max_span_attributes=limit)
    named = set(cut.not_captured)
    for field in LISTS:
        value, true = getattr(cut, field), getattr(WHOLE, field)
        assert value == true or any(name == field or name.startswith(f"{field}.") for name in named), (field, value)
    assert cut.answer == WHOLE.answer or named & {"answer", "answer.outcome", "answer.text"}


@pytest.mark.parametrize("limit", [3, 5, 8, 12])
def test_lists_that_were_lost_are_not_empty(limit):
    cut = path(max_span_attributes=limit)
    assert cut.retrieved is None or cut.retrieved.ids == WHOLE.retrieved.ids
    assert cut.context is None or cut.context.ids == WHOLE.context.ids
    assert cut.filtered is None or cut.filtered.kept == WHOLE.filtered.kept


ROOT = workflow(1)


def renamed(left, root=ROOT, lost=1):
    """The path of a question with one span that a pipeline has renamed, of which only some attributes came."""
    sent = request(root, S(2, 1, attributes=left, scope=root.scope))
    sent.resource_spans[0].scope_spans[-1].spans[-1].dropped_attributes_count = lost
    (found,) = source(sent).paths(Selection())
    return found


@pytest.mark.parametrize(
    ("left", "field"), [({a.STAGE: "filter"}, "filtered.dropped"), ({a.OPERATION: "retrieval"}, "retrievals.documents")]
)
def test_a_span_that_was_renamed_is_known_by_what_is_left_of_it(left, field):
    assert field in renamed(left).not_captured
    assert field not in renamed({}).not_captured


def test_so_is_one_of_the_official_instrumentation():
    root = S(1, attributes={a.OPERATION: "invoke_workflow"}, scope="official")
    assert "retrievals.candidates" in renamed({a.OPERATION: "retrieval"}, root).not_captured
    assert "retrievals.candidates" not in renamed({a.OPERATION: "retrieval"}, root, lost=0).not_captured


def test_so_is_a_node():
    cut = renamed({a.NODE_NAME: "look"})
    assert [step.stage.name for step in cut.nodes] == ["look"]
    assert "nodes" in cut.not_captured


def test_json_says_it_too():
    sent = b'{"resourceSpans":[{"scopeSpans":[{"spans":[{"name":"retrieval","droppedAttributesCount":7}]}]}]}'
    (resource,) = parse_otlp_json(sent).resource_spans
    assert resource.scope_spans[0].spans[0].dropped_attributes_count == 7


@pytest.mark.parametrize("limit", [2, 4, 8, 30])
def test_values_that_were_cut_state_nothing_that_was_not(limit):
    """OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT leaves no mark; words that are cut are no words, and ids are cut alike."""
    cut = path(max_span_attribute_length=limit)
    assert cut.retrieved is None or [*cut.retrieved.ids] == [name[:limit] for name in WHOLE.retrieved.ids]
    assert cut.context is None or [*cut.context.ids] == [name[:limit] for name in WHOLE.context.ids]
    assert cut.answer is None or cut.answer.outcome in (None, WHOLE.answer.outcome)
