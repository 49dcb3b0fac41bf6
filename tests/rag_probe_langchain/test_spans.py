"""When spans are written: in bursts, none lost, and nothing more is worked out for a question that is not recorded."""

from __future__ import annotations

import threading
from uuid import uuid4

import pytest
from langchain_core.runnables import RunnableLambda
from opentelemetry.sdk.trace import SpanProcessor
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF

from rag_probe import attributes as a
from rag_probe import stage, staging, tell
from rag_probe.policy import CapturePolicy
from rag_probe.sampling import KeepCases
from rag_probe_langchain import spans

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


def test_a_processor_that_raises_loses_its_span_alone(caplog):
    class Broken(SpanProcessor):
        def on_end(self, span):
            if span.name == "retrieval":
                raise OSError("secret")

    recorder = Recorder()
    recorder.provider.add_span_processor(Broken())
    assert rag().invoke(QUESTION, recorder.config) == ANSWER
    assert len(recorder.spans) == 6
    assert "secret" not in caplog.text
    assert_nothing_open()


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
            ready.wait(10)
            for _ in range(20):
                run = uuid4()
                recorder.handler.on_retriever_start(None, "?", run_id=run, parent_run_id=root, name="search")
                recorder.handler.on_retriever_end(passages("gift"), run_id=run)

        thread = threading.Thread(target=children)
        thread.start()
        ready.wait(10)
        recorder.handler.on_chain_end("answer", run_id=root)
        thread.join(10)
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
