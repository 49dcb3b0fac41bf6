"""A provider that cuts long values states no wrong fact by it: what does not fit is not captured (issue B)."""

from __future__ import annotations

import pytest
from langchain_core.documents import Document
from opentelemetry import trace
from opentelemetry.sdk.trace import SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from rag_probe import attributes as a
from rag_probe import case, faults, stage, staging, tell
from rag_probe_langchain import RagProbeCallbackHandler
from tests.scenarios.recording import paths_of

from .apps import TEXTS, Scripted, Search, rag

LONG = "https://intranet.example/handbook/returns/chapter-"
QUESTION = "How long do I have?"
VARIABLES = ("OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT", "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT")


def provider_with(limits):
    exporter, provider = InMemorySpanExporter(), TracerProvider(span_limits=limits, shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return exporter, provider


def path_with(limits, prefix=LONG, **tags):
    exporter, provider = provider_with(limits)
    found = [Document(id=prefix + name, page_content=text) for name, text in TEXTS.items()]
    chain = rag(Search(found=found), Scripted(answers=["Thirty days [1]."]), steps=lambda given: given[:3])
    with case("returns-1", experiment="e" * 60):
        chain.invoke(QUESTION, {"callbacks": [RagProbeCallbackHandler(tracer_provider=provider)]})
    (path,) = paths_of(exporter.get_finished_spans())
    return path


@pytest.fixture
def said(monkeypatch, caplog):
    monkeypatch.setattr(faults, "_said", {})
    return lambda: [record.getMessage() for record in caplog.records]


@pytest.mark.parametrize("how", ["max_attribute_length", "max_span_attribute_length", *VARIABLES])
def test_ids_that_would_be_cut_are_not_captured(how, monkeypatch, said):
    if how in VARIABLES:
        monkeypatch.setenv(how, "48")
        path = path_with(SpanLimits())
    else:
        path = path_with(SpanLimits(**{how: 48}))
    assert (path.retrieved, path.filtered, path.context, path.citations) == (None, None, None, None)
    assert {"retrieved", "filtered", "context", "citations"} <= set(path.not_captured)
    assert (path.tags.case_id, path.tags.experiment) == ("returns-1", None)
    assert path.answer.outcome == "answered"
    (line,) = said()
    assert line.startswith("this provider cuts values at 48 characters: rag.")


def test_what_fits_is_as_without_a_limit(said):
    limited, free = path_with(SpanLimits(max_attribute_length=60), "kb-"), path_with(SpanLimits(), "kb-")
    assert limited.retrieved == free.retrieved
    assert (limited.context, limited.citations) == (free.context, free.citations)
    assert limited.not_captured == free.not_captured
    assert said() == []


def test_what_an_app_tells_outside_of_any_run_too(monkeypatch, said):
    exporter, provider = provider_with(SpanLimits(max_attribute_length=48))
    monkeypatch.setattr(staging, "_tracer", provider.get_tracer("rag_probe"))
    with stage("filter", "fresh") as kept:
        kept.keep(LONG + "one", LONG + "two")
    with trace.use_span(provider.get_tracer("app").start_span("ask"), end_on_exit=True):
        tell.outcome("answered")
        tell.citations([LONG + "one"])
    step, ask = exporter.get_finished_spans()
    assert (step.attributes[a.STEP_NAME], step.attributes.get(a.FILTER_KEPT)) == ("fresh", None)
    assert (ask.attributes[a.ANSWER_OUTCOME], ask.attributes.get(a.CITATION_IDS)) == ("answered", None)
