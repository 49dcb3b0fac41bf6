"""Whatever events come, in whatever order and thread: a well-formed tree, each span once, nothing kept."""

from __future__ import annotations

import multiprocessing
import os
import threading
from uuid import UUID, uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, LLMResult
from langchain_core.runnables import RunnableLambda
from langgraph.errors import GraphInterrupt, GraphRecursionError

from rag_probe import attributes as a
from rag_probe import stage
from rag_probe.stages import Filtering
from rag_probe_langchain import runs
from rag_probe_langchain.current import Current
from rag_probe_langchain.finish import give_up

from .apps import rag
from .recorded import Recorder, assert_nothing_open, assert_well_formed

KINDS = ("chain", "retriever", "model", "tool")
MARKS = (None, "permission", "filter", "rerank", "retrieval", "context", "node", "fan-out")
FOUND = [Document(id=name, page_content=f"This is the text of passage {name}.") for name in "abc"]


def _marked(mark, run):
    """A mark of a stage, or the metadata of a graph's node; of a fan-out, one of several tasks of one node."""
    if mark in ("node", "fan-out"):
        task = run.int % 3 if mark == "fan-out" else run.int
        where = {"langgraph_node": f"node {task}" if mark == "node" else "search", "langgraph_step": run.int % 2}
        return {**where, "langgraph_checkpoint_ns": f"{where['langgraph_node']}:{task}", "thread_id": "t"}
    return {"rag.stage": mark} if mark else None


def start(handler, kind, run, parent, mark=None):
    metadata, tags = mark if isinstance(mark, dict) else _marked(mark, run), []
    if metadata is not None and "langgraph_node" in metadata:
        tags = ["graph:step:1"]
    details = {"run_id": run, "parent_run_id": parent, "name": f"{kind} {run.int % 10}"}
    details |= {"metadata": metadata, "tags": tags}
    match kind:
        case "chain":
            handler.on_chain_start(None, {"question": "?", "found": FOUND[: run.int % 4]}, **details)
        case "retriever":
            handler.on_retriever_start(None, "?", **details)
        case "model":
            handler.on_chat_model_start({}, [[HumanMessage("\n".join(each.page_content for each in FOUND))]], **details)
        case _:
            handler.on_tool_start({"name": "tool"}, "?", **details)


ERRORS = (ValueError, KeyboardInterrupt, GeneratorExit, GraphInterrupt, GraphRecursionError)


def end(handler, kind, run, failed):
    if failed:
        event = {"model": "on_llm_error"}.get(kind, f"on_{kind}_error")
        getattr(handler, event)(ERRORS[run.int % len(ERRORS)](), run_id=run)
        return
    match kind:
        case "chain":
            handler.on_chain_end({"found": FOUND[: run.int % 3]}, run_id=run)
        case "retriever":
            handler.on_retriever_end(FOUND, run_id=run)
        case "model":
            handler.on_llm_end(LLMResult(generations=[[ChatGeneration(message=AIMessage("yes"))]]), run_id=run)
        case _:
            handler.on_tool_end(FOUND, run_id=run)


@st.composite
def histories(draw):
    """Random trees of runs, whose ends come late, twice, or never; roots always end."""
    size = draw(st.integers(1, 12))
    kinds = ["chain", *draw(st.lists(st.sampled_from(KINDS), min_size=size - 1, max_size=size - 1))]
    parents = [None, *(draw(st.integers(0, place - 1) | st.none()) for place in range(1, size))]
    events = [("start", place) for place in range(size)]
    for place in range(size):
        for _ in range(draw(st.integers(0, 2)) if parents[place] is not None else 1):
            events.insert(draw(st.integers(0, len(events))), ("end", place))
    roots = [("end", place) for place in range(size) if parents[place] is None]
    failing = draw(st.sets(st.integers(0, size - 1)))
    marks = draw(st.lists(st.sampled_from(MARKS), min_size=size, max_size=size))
    return kinds, parents, [*events, *roots], failing, marks


@settings(max_examples=300, deadline=None)
@given(histories())
def test_any_history_leaves_a_well_formed_tree(history):
    kinds, parents, events, failing, marks = history
    ids = [uuid4() for _ in kinds]
    recorder = Recorder()
    for what, place in events:
        parent = parents[place]
        if what == "start":
            start(recorder.handler, kinds[place], ids[place], None if parent is None else ids[parent], marks[place])
        else:
            end(recorder.handler, kinds[place], ids[place], place in failing)
    for root in list(runs._roots.values()):  # those whose parent had ended before they started
        recorder.handler.on_chain_end({}, run_id=UUID(int=root.key))
    assert_well_formed(recorder.spans)


@settings(max_examples=40, deadline=None)
@given(histories(), st.integers(2, 4))
def test_any_history_told_by_several_threads_does(history, threads):
    """Each run's events come in their order, in whichever thread; told stages among them, late ends included."""
    kinds, parents, events, failing, marks = history
    ids = [uuid4() for _ in kinds]
    recorder = Recorder()
    root_ends = [event for event in events if event[0] == "end" and parents[event[1]] is None]
    root_starts = [("start", place) for place, parent in enumerate(parents) if parent is None]

    def tell(some):
        for what, place in some:
            if what == "start":
                parent = parents[place]
                start(recorder.handler, kinds[place], ids[place], None if parent is None else ids[parent], marks[place])
                run = runs.OPEN.get(ids[place].int)
                if run is not None and place % 2:
                    Current(run).record(Filtering(step="told", kept=("a",), dropped=("b",)), 1 + run.started, 2, None)
            else:
                end(recorder.handler, kinds[place], ids[place], place in failing)

    tell(root_starts)
    inner = [event for event in events if parents[event[1]] is not None]
    workers = [
        threading.Thread(target=tell, args=([event for event in inner if event[1] % threads == number],))
        for number in range(threads)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(100)
    tell(root_ends)
    for root in list(runs._roots.values()):
        recorder.handler.on_chain_end({}, run_id=UUID(int=root.key))
    names = [span.context.span_id for span in recorder.spans]
    assert len(names) == len(set(names))
    assert all(span.end_time is not None for span in recorder.spans)
    assert_nothing_open()


def test_ends_that_nobody_started_are_nothing():
    recorder = Recorder()
    for kind in KINDS:
        end(recorder.handler, kind, uuid4(), failed=False)
        end(recorder.handler, kind, uuid4(), failed=True)
    assert recorder.spans == ()


def test_a_run_that_starts_twice_is_one():
    recorder, run = Recorder(), uuid4()
    start(recorder.handler, "retriever", run, None)
    start(recorder.handler, "retriever", run, None)
    end(recorder.handler, "retriever", run, failed=False)
    end(recorder.handler, "retriever", run, failed=False)
    assert len(recorder.spans) == 1


def test_the_oldest_question_is_given_up_when_there_are_too_many(monkeypatch):
    monkeypatch.setattr(runs, "LIMIT", 3)
    recorder, ids = Recorder(), [uuid4() for _ in range(5)]
    for run in ids:
        start(recorder.handler, "chain", run, None)
    assert len(runs._roots) == 3
    assert [span.attributes[a.PARTIAL] for span in recorder.named("invoke_workflow")] == [True, True]
    for run in ids:
        end(recorder.handler, "chain", run, failed=False)
    assert len(recorder.named("invoke_workflow")) == 5
    assert_nothing_open()


def test_a_question_that_nobody_ends_expires(monkeypatch):
    recorder, left, young = Recorder(), uuid4(), uuid4()
    start(recorder.handler, "retriever", left, None)
    monkeypatch.setattr(runs, "IDLE", 0)
    start(recorder.handler, "chain", young, None)
    assert recorder.one("retrieval")[a.PARTIAL] is True
    end(recorder.handler, "chain", young, failed=False)
    assert_nothing_open()


def test_an_old_question_that_is_alive_stays(monkeypatch):
    recorder, old, young = Recorder(), uuid4(), uuid4()
    start(recorder.handler, "chain", old, None)
    runs._roots[old.int].started = 0
    start(recorder.handler, "chain", young, None)
    assert set(runs._roots) == {old.int, young.int}
    for run in (old, young):
        end(recorder.handler, "chain", run, failed=False)
    assert [a.PARTIAL in span.attributes for span in recorder.named("invoke_workflow")] == [False, False]


def test_giving_up_what_has_ended_is_nothing():
    recorder, run = Recorder(), uuid4()
    start(recorder.handler, "chain", run, None)
    root = runs._roots[run.int]
    end(recorder.handler, "chain", run, failed=True)
    give_up(root)
    assert len(recorder.spans) == 1


def test_one_question_that_leaks_runs_stays_bounded(monkeypatch):
    monkeypatch.setattr(runs, "RUNS", 10)
    recorder, root = Recorder(), uuid4()
    start(recorder.handler, "chain", root, None)
    for _ in range(50):
        start(recorder.handler, "retriever", uuid4(), root)
    assert len(runs.OPEN) <= 11
    end(recorder.handler, "chain", root, failed=True)
    assert len(recorder.named("retrieval")) == 50
    assert_well_formed(recorder.spans)


def test_a_forked_child_starts_with_nothing():
    if not hasattr(os, "fork"):
        pytest.skip("this system does not fork")
    recorder, run = Recorder(), uuid4()
    start(recorder.handler, "chain", run, None)
    context = multiprocessing.get_context("fork")
    reader, writer = context.Pipe(duplex=False)

    def child():
        known = len(runs.OPEN)
        rag().invoke("?", recorder.config)
        end(recorder.handler, "chain", run, failed=False)
        writer.send((known, len(recorder.named("invoke_workflow")), len(runs.OPEN)))

    process = context.Process(target=child)
    process.start()
    assert reader.poll(100)
    assert reader.recv() == (0, 1, 0)
    process.join(100)
    end(recorder.handler, "chain", run, failed=False)
    assert_nothing_open()


def test_a_stage_that_a_fork_cut_in_two_ends_in_its_parent_only():
    """Even when another thread was writing to the same question at that moment."""
    if not hasattr(os, "fork"):
        pytest.skip("this system does not fork")
    recorder = Recorder()
    entered, done = threading.Event(), threading.Event()

    def write_for_long(lock):
        with lock:
            entered.set()
            done.wait(100)

    def answer(question):
        with stage("filter", "freshness") as noted:
            noted.keep("a")
            run = runs.current()
            thread = threading.Thread(target=write_for_long, args=(run.request.lock,))
            thread.start()
            assert entered.wait(100)
            process = os.fork()
            if process:
                done.set()
        if process == 0:
            os._exit(len(runs.OPEN))
        thread.join(100)
        assert os.waitpid(process, 0)[1] == 0
        return question

    RunnableLambda(answer).invoke("?", recorder.config)
    assert len(recorder.named("rag.filter freshness")) == 1
    assert_nothing_open()


def test_many_threads_under_one_root():
    recorder, root = Recorder(), uuid4()
    start(recorder.handler, "chain", root, None)
    ready = threading.Barrier(8)

    def work():
        ready.wait(100)
        for _ in range(25):
            run, inner = uuid4(), uuid4()
            start(recorder.handler, "chain", run, root, {"rag.stage": "filter"})
            start(recorder.handler, "retriever", inner, run)
            end(recorder.handler, "retriever", inner, failed=False)
            end(recorder.handler, "chain", run, failed=False)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(100)
    end(recorder.handler, "chain", root, failed=False)
    assert len(recorder.named("retrieval")) == 200
    assert len(recorder.named("invoke_workflow")) == 1
    assert_well_formed(recorder.spans)
