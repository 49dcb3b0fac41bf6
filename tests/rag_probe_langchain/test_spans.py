"""When spans are written: in bursts, none lost, and nothing more is worked out for a question that is not recorded."""

from __future__ import annotations

import threading
from uuid import uuid4

import pytest
from langchain_core.runnables import RunnableLambda
from opentelemetry.sdk.trace import SpanProcessor
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, Sampler

from rag_probe import attributes as a
from rag_probe import faults, stage, staging, tell
from rag_probe.policy import CapturePolicy
from rag_probe.sampling import KeepCases
from rag_probe_langchain import spans
from tests.scenarios.recording import paths_of

from .apps import ANSWER, Search, passages, rag
from .recorded import Recorder, assert_nothing_open, assert_well_formed

QUESTION = "How long do I have?"


def test_a_request_that_takes_long_is_seen_while_it_runs(monkeypatch):
    monkeypatch.setattr(spans, "PATIENCE", 0)
    recorder, seen = Recorder(), []

    def look(found):
        seen.extend(recorder.names())
        return found

    rag(steps=RunnableLambda(lambda found: Search(found=passages("gift")).invoke("?")) | look).invoke(
        QUESTION, recorder.config
    )
    assert seen == ["retrieval", "retrieval"]
    assert recorder.names()[:3] == ["invoke_workflow returns desk", "  retrieval", "  retrieval"]
    assert_well_formed(recorder.spans)


def test_a_request_with_many_stages_does_not_hoard_them():
    recorder, seen = Recorder(), []

    def search_often(question):
        for _ in range(100):
            Search(found=passages("gift")).invoke(question)
        seen.append(len(recorder.spans))
        return "found"

    RunnableLambda(search_often).invoke(QUESTION, recorder.config)
    assert seen[0] >= 60
    assert len(recorder.named("retrieval")) == 100


@pytest.fixture
def said(monkeypatch, caplog):
    """What the log says, with everything said for the first time."""
    monkeypatch.setattr(faults, "_said", {})
    return lambda: [record.getMessage() for record in caplog.records]


class Broken(SpanProcessor):
    """The app's own, which raises in `where` for spans whose names begin so."""

    def __init__(self, where, name):
        self.where, self.name = where, name

    def on_start(self, span, parent_context=None):
        self.look("start", span)

    def on_end(self, span):
        self.look("end", span)

    def look(self, where, span):
        if where == self.where and span.name.startswith(self.name):
            raise OSError("secret")


def with_broken(where, name, question=QUESTION, **more):
    recorder = Recorder()
    recorder.provider.add_span_processor(Broken(where, name))
    assert rag(**more).invoke(question, recorder.config) == ANSWER
    assert_well_formed(recorder.spans)
    return recorder


@pytest.mark.parametrize("name", ["retrieval", "rag.filter", "chat", "invoke_workflow", ""])
def test_a_processor_that_raises_at_an_end_costs_no_span_of_those_before_it(said, name):
    assert len(with_broken("end", name).spans) == 6
    (line,) = said()
    assert line.startswith("tests.rag_probe_langchain.test_spans.Broken.on_end raised OSError at test_spans.py:")
    assert "secret" not in line


@pytest.mark.parametrize("name", ["retrieval", "rag.filter", "chat"])
def test_a_processor_that_raises_at_a_start_costs_that_span_and_the_path_says_so(said, name):
    recorder = with_broken("start", name)
    assert recorder.named(name) == []
    assert len(recorder.spans) == 5
    (path,) = paths_of(recorder.spans)
    assert path.partial
    (line,) = said()
    assert line.startswith("tests.rag_probe_langchain.test_spans.Broken.on_start raised OSError")


def test_what_is_inside_a_span_that_could_not_start_hangs_under_the_next_one():
    inner = RunnableLambda(lambda found: Search(found=passages("gift")).invoke("?")).with_config(
        metadata={"rag.stage": "filter"}, run_name="fresh"
    )
    recorder = with_broken("start", "rag.filter", steps=inner)
    roots = {span.context.span_id for span in recorder.spans if span.parent is None}
    assert {span.parent.span_id for span in recorder.named("retrieval")} == roots


@pytest.mark.parametrize("name", ["invoke_workflow", ""])
def test_without_a_root_nothing_is_written(name):
    assert with_broken("start", name).spans == ()


def test_a_sampler_that_raises_is_named_too(said):
    class Choosing(Sampler):
        def should_sample(self, *args, **kwargs):
            raise OSError("secret")

        def get_description(self):
            return "choosing"

    recorder = Recorder(sampler=Choosing())
    assert rag().invoke(QUESTION, recorder.config) == ANSWER
    assert recorder.spans == ()
    assert_nothing_open()
    assert "Choosing.should_sample raised OSError" in said()[0]


def test_a_stage_of_a_plain_function_names_it_too(monkeypatch, said):
    recorder = Recorder()
    recorder.provider.add_span_processor(Broken("start", "rag."))
    monkeypatch.setattr(staging, "_tracer", recorder.provider.get_tracer("rag_probe"))
    with stage("filter") as kept:
        kept.keep("gift")
    assert "Broken.on_start raised OSError" in said()[0]


def test_nothing_is_worked_out_once_a_sampler_has_refused():
    looked = []
    policy = CapturePolicy(content=True, redact=lambda text: looked.append(text) or text)
    recorder = Recorder(sampler=ALWAYS_OFF, policy=policy)
    rag().invoke(QUESTION, recorder.config)
    looked.clear()
    assert rag().invoke(QUESTION, recorder.config) == ANSWER
    assert looked == [QUESTION]
    assert recorder.spans == ()
    assert_nothing_open()


def test_a_sampler_that_keeps_cases_is_asked_for_each_question():
    from rag_probe.cases import case

    recorder = Recorder(sampler=KeepCases(ALWAYS_OFF))
    rag().invoke(QUESTION, recorder.config)
    with case("c-1", experiment="e-1"):
        rag().invoke(QUESTION, recorder.config)
    rag().invoke(QUESTION, recorder.config)
    assert len(recorder.spans) == 6
    assert recorder.one("invoke_workflow")[a.CASE_ID] == "c-1"


def test_what_ends_as_its_question_ends_is_written():
    recorder, root, late = Recorder(), uuid4(), uuid4()
    recorder.handler.on_chain_start(None, {"question": "?"}, run_id=root, name="root")
    recorder.handler.on_retriever_start(None, "?", run_id=late, parent_run_id=root, name="late")
    from rag_probe_langchain import runs
    from rag_probe_langchain.finish import _end
    from rag_probe_langchain.retrieval import retrieval_ended

    run = runs.take(late.int)  # its end event has come, and waits for the lock that the root's end holds
    recorder.handler.on_chain_end("answer", run_id=root)
    _end(run, run.key, retrieval_ended, passages("gift"))
    assert {span.name for span in recorder.spans} == {"retrieval", "invoke_workflow root"}
    assert_well_formed(recorder.spans)


@pytest.mark.parametrize("rounds", [20])
def test_starts_and_ends_that_race_leave_nothing(rounds):
    recorder = Recorder()
    for _ in range(rounds):
        root, ready = uuid4(), threading.Barrier(2)
        recorder.handler.on_chain_start(None, {"question": "?"}, run_id=root, name="root")

        def children(root=root, ready=ready):
            ready.wait(100)
            for _ in range(20):
                run = uuid4()
                recorder.handler.on_retriever_start(None, "?", run_id=run, parent_run_id=root, name="search")
                recorder.handler.on_retriever_end(passages("gift"), run_id=run)

        thread = threading.Thread(target=children)
        thread.start()
        ready.wait(100)
        recorder.handler.on_chain_end("answer", run_id=root)
        thread.join(100)
    assert_well_formed(recorder.spans)
    assert len(recorder.named("invoke_workflow")) == rounds


def test_what_the_app_says_inside_a_refused_question_begins_no_trace_of_its_own(monkeypatch):
    ambient = Recorder()
    monkeypatch.setattr(staging, "_tracer", ambient.provider.get_tracer("rag_probe"))
    refused = Recorder(sampler=ALWAYS_OFF)

    def check(found):
        with stage("permission") as decided:
            decided.allow("gift")
        tell.outcome("partial")
        return found

    for _ in range(2):  # the first is refused at its root, later ones before they begin
        rag(steps=RunnableLambda(check)).invoke("How long?", refused.config)
    assert not ambient.spans
    assert not refused.spans
