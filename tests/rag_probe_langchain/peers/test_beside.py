"""Under another instrumentation's spans, and what happens when it is not as we know it (issue B: side by side).

The other one is a fake, so that it can be odd; the real ones stand in tests/scenarios/beside.
"""

from __future__ import annotations

import logging

import pytest
from langchain_core.callbacks import BaseCallbackHandler, BaseCallbackManager
from langchain_core.runnables import RunnableLambda
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ParentBased, Sampler, SamplingResult
from opentelemetry.sdk.trace.sampling import Decision as Sampled
from opentelemetry.trace import NoOpTracerProvider, get_current_span, set_span_in_context
from wrapt import wrap_function_wrapper

from rag_probe import attributes as a
from rag_probe import faults, stage
from rag_probe_langchain import runs
from rag_probe_langchain.peers import PEERS, looking
from tests.rag_probe_langchain.apps import passages, rag
from tests.rag_probe_langchain.recorded import Recorder, assert_well_formed

QUESTION = "How long do I have?"
BENEATH = [
    "theirs chain",
    "  rag.answer returns desk",
    "  theirs retriever",
    "    rag.retrieval Search",
    "  rag.filter not_old",
    "  rag.permission allowed",
    "  rag.context as_text",
    "  theirs model",
    "    rag.generation scripted-1",
]
ALONE = [
    "rag.answer returns desk",
    "  rag.retrieval Search",
    "  rag.filter not_old",
    "  rag.permission allowed",
    "  rag.context as_text",
    "  rag.generation scripted-1",
]


class Other(BaseCallbackHandler):
    """A span for the outermost chain, for retrievers and models."""

    run_inline = True

    def __init__(self, provider):
        self.tracer = provider.get_tracer("theirs")
        self.spans = {}

    def begin(self, kind, run_id):
        root = next(iter(self.spans.values()), None)
        self.spans[run_id] = self.tracer.start_span(
            f"theirs {kind}", None if root is None else set_span_in_context(root)
        )

    def end(self, run_id):
        if run_id in self.spans:
            self.spans.pop(run_id).end()

    def on_chain_start(self, serialized, inputs, *, run_id, parent_run_id=None, **more):
        if parent_run_id is None:
            self.begin("chain", run_id)

    def on_retriever_start(self, serialized, query, *, run_id, **more):
        self.begin("retriever", run_id)

    def on_chat_model_start(self, serialized, messages, *, run_id, **more):
        self.begin("model", run_id)

    def on_chain_end(self, outputs, *, run_id, **more):
        self.end(run_id)

    def on_retriever_end(self, documents, *, run_id, **more):
        self.end(run_id)

    def on_llm_end(self, response, *, run_id, **more):
        self.end(run_id)


@pytest.fixture
def install(monkeypatch):
    """Installs a handler as the others do; undone afterwards."""
    monkeypatch.setattr(BaseCallbackManager, "__init__", vars(BaseCallbackManager)["__init__"])
    monkeypatch.setattr(faults, "_said", {})

    def installed(handler, adapter=lambda handler: handler.spans.get):
        monkeypatch.setitem(PEERS, __name__, adapter)

        def wrapper(wrapped, instance, args, kwargs):
            wrapped(*args, **kwargs)
            if not any(isinstance(each, Other) for each in instance.inheritable_handlers):
                instance.add_handler(handler, True)

        wrap_function_wrapper("langchain_core.callbacks.base", "BaseCallbackManager.__init__", wrapper)

    yield installed
    looking._known = looking._Known(None, ())


def recorded(**options):
    return Recorder(beside=True, **options)


def test_ours_hang_under_theirs(install):
    recorder = recorded()
    install(Other(recorder.provider))
    rag().invoke(QUESTION, recorder.config)
    assert recorder.names() == BENEATH
    assert_well_formed(recorder.spans)


def test_it_may_be_installed_and_removed_at_any_time(install, monkeypatch):
    recorder = recorded()
    rag().invoke(QUESTION, recorder.config)
    assert recorder.names() == ALONE
    recorder.exporter.clear()
    install(Other(recorder.provider))
    rag().invoke(QUESTION, recorder.config)
    assert recorder.names() == BENEATH
    recorder.exporter.clear()
    monkeypatch.undo()
    rag().invoke(QUESTION, recorder.config)
    assert recorder.names() == ALONE


def test_ours_say_nothing_that_others_count(install):
    recorder = recorded()
    install(Other(recorder.provider))
    rag().invoke(QUESTION, {**recorder.config, "metadata": {"thread_id": "t1"}})
    for span in recorder.spans:
        if not span.name.startswith("theirs"):
            assert {name for name in span.attributes if name.startswith("gen_ai.")} <= {a.CONVERSATION_ID}
            assert (span.kind.name, span.status.is_unset) == ("INTERNAL", True)
    assert recorder.one("rag.answer")[a.CONVERSATION_ID] == "t1"
    assert recorder.one("rag.generation")["rag.gen_ai.usage.input_tokens"] == 70


def moved(handler):
    raise AttributeError("spans")


def odd(handler):
    return lambda run_id: 1 / 0


def nothing(handler):
    return lambda run_id: None


@pytest.mark.parametrize("adapter", [moved, odd, nothing])
def test_moved_names_cost_only_the_nesting(install, adapter, caplog):
    recorder = recorded()
    install(Other(recorder.provider), adapter)
    with caplog.at_level(logging.WARNING, "rag_probe"):
        for _ in range(2):
            rag().invoke(QUESTION, recorder.config)
    assert recorder.names().count(ALONE[0]) == 2
    assert [line for line in recorder.names() if "theirs" not in line] == ALONE * 2
    assert len(caplog.records) == (adapter is not nothing)


def test_without_theirs_ours_are_one_trace_under_the_ambient_span(install):
    recorder = recorded()
    install(Other(recorder.provider), moved)
    with recorder.provider.get_tracer("app").start_as_current_span("POST /ask"):
        rag().invoke(QUESTION, recorder.config)
    assert [line for line in recorder.names() if "theirs" not in line] == [
        "POST /ask",
        *[f"  {line}" for line in ALONE],
    ]


def test_spans_of_another_provider_go_elsewhere(install):
    recorder = recorded()
    install(Other(TracerProvider()))
    rag().invoke(QUESTION, recorder.config)
    assert recorder.names() == ALONE


def test_a_peer_that_records_nothing_is_none(install):
    recorder = recorded()
    install(Other(NoOpTracerProvider()))
    rag().invoke(QUESTION, recorder.config)
    assert recorder.names() == ALONE


def test_in_full_the_two_roots_stand_in_one_trace(install):
    recorder = Recorder()
    install(Other(recorder.provider))
    rag().invoke(QUESTION, recorder.config)
    assert [line for line in recorder.names() if "theirs" not in line] == [
        "  invoke_workflow returns desk",
        "    retrieval",
        "    rag.filter not_old",
        "    rag.permission allowed",
        "    rag.context as_text",
        "    chat scripted-1",
    ]


def test_what_the_app_tells_hangs_there_too(install):
    recorder = recorded()
    install(Other(recorder.provider))

    def allow(found):
        with stage("permission", policy="v7") as check:
            for each in found:
                check.allow(each.id)
        return found

    def search(query):
        return passages("gift")

    (RunnableLambda(search) | allow).with_config(run_name="desk").invoke(QUESTION, recorder.config)
    assert recorder.names() == ["theirs chain", "  rag.answer desk", "  rag.retrieval search", "  rag.permission allow"]


class EverySecond(Sampler):
    """Of roots; a decision that differs from trace to trace."""

    asked = 0

    def should_sample(self, parent_context, trace_id, name, kind=None, attributes=None, links=None):
        if get_current_span(parent_context).get_span_context().is_valid:
            raise AssertionError("a root has no parent")
        self.asked += 1
        return SamplingResult(Sampled.RECORD_AND_SAMPLE if self.asked % 2 else Sampled.DROP)

    def get_description(self):
        return "EverySecond"


@pytest.mark.parametrize("beside", [True, False])
def test_a_sampler_decides_once_for_theirs_and_ours(install, beside):
    recorder = Recorder(beside=beside, sampler=ParentBased(EverySecond()))
    install(Other(recorder.provider))
    for _ in range(8):
        rag().invoke(QUESTION, recorder.config)
    traces = [span.context.trace_id for span in recorder.spans]
    assert len(set(traces)) == 4
    assert len({traces.count(trace) for trace in traces}) == 1
    assert_well_formed(recorder.spans)


def test_nothing_is_recorded_where_nothing_is_sampled(install):
    recorder = recorded(sampler=ParentBased(ALWAYS_OFF))
    install(Other(recorder.provider))
    for _ in range(3):
        rag().invoke(QUESTION, recorder.config)
    assert recorder.spans == ()


def test_theirs_is_not_kept_alive(install):
    """It may hold a prompt."""
    recorder = recorded()
    install(Other(recorder.provider))
    found = []

    def look(state):
        found.extend(run.theirs for run in runs.OPEN.values() if run.parent is None)
        return state

    (RunnableLambda(str.upper) | look).invoke("q", {"callbacks": []} | recorder.config)
    assert [get_current_span(context).is_recording() for context in found if context is not None] == []
