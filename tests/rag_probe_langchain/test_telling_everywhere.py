"""`stage` and `tell` in every place where an app has code: told once, under the run that it stands in (issue B)."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from typing import TypedDict

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import wrap_model_call
from langchain_core.messages import AIMessage
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda, RunnableParallel
from langchain_core.tools import tool
from langgraph.graph import END, START, StateGraph
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from rag_probe import attributes as a
from rag_probe import stage, staging, tell
from tests.rag_probe_langchain.apps import Scripted, Search, passages
from tests.rag_probe_langchain.recorded import Recorder, assert_well_formed

QUESTION = "How long do I have?"
KINDS = ("filter", "permission", "rerank", "context")


def say():
    """Everything there is to say, as context managers."""
    found = passages("returns", "sale")
    with stage("filter", "fresh") as kept:
        kept.keep(found[0], found[1])
        kept.drop("old", "superseded")
    with stage("permission", "acl", policy="v7") as check:
        check.allow(found[0])
        check.allow(found[1])
        check.deny("staff", "role_not_granted")
    with stage("rerank", "cross") as ranked:
        ranked.rank(found[1], 0.9)
        ranked.rank(found[0], 0.4)
    with stage("context", "pack", limit=620, tokenizer="words") as packed:
        packed.add(found[1], tokens=13)
        packed.drop(found[0], "budget")
    tell.outcome("partial")
    tell.confidence(0.7)
    tell.citations([("sale", "[1]")])
    return found


async def asay():
    """The same, with `async with` around an await."""
    async with stage("filter", "slow") as kept:
        await asyncio.sleep(0)
        kept.keep("returns")
    return say()


@stage("filter", "decorated")
def decorated(found):
    return found[:2]


@stage("filter", "decorated")
async def adecorated(found):
    await asyncio.sleep(0)
    return found[:2]


class Searching(BaseRetriever):
    def _get_relevant_documents(self, query, *, run_manager):
        return say()


class AsyncSearching(Searching):
    async def _aget_relevant_documents(self, query, *, run_manager):
        return await asay()


class State(TypedDict, total=False):
    found: list
    question: str


def graph_of(node):
    graph = StateGraph(State)
    graph.add_node("node", node)
    graph.add_edge(START, "node")
    graph.add_edge("node", END)
    return graph.compile()


async def anode(state):
    return {"found": await asay()}


@tool
def look(query: str) -> str:
    """Look it up."""
    say()
    return "found"


@tool
async def alook(query: str) -> str:
    """Look it up."""
    await asay()
    return "found"


@wrap_model_call
def middleware(request, handler):
    say()
    return handler(request)


class Agent(Scripted):
    def bind_tools(self, tools, **kwargs):
        return self


def in_thread(context=None):
    run = say if context is None else lambda: context.run(say)
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return []


PLACES = {
    "lambda": (RunnableLambda(lambda question: say()), QUESTION),
    "async lambda": (RunnableLambda(lambda question: say(), afunc=lambda question: asay()), QUESTION),
    "parallel": (RunnableParallel(one=lambda question: say()), QUESTION),
    "generator": (RunnableLambda(lambda question: iter(say())) | RunnableLambda(list), QUESTION),
    "retriever": (RunnableLambda(str) | Searching(), QUESTION),
    "retriever alone": (Searching(), QUESTION),
    "async retriever": (AsyncSearching(), QUESTION),
    "tool": (RunnableLambda(lambda question: look.invoke({"query": question})), QUESTION),
    "tool alone": (look, {"query": QUESTION}),
    "node": (graph_of(lambda state: {"found": say()}), {"question": QUESTION}),
    "middleware": (
        create_agent(Agent(answers=["Thirty days."]), [], middleware=[middleware]),
        {"messages": [("human", QUESTION)]},
    ),
    "thread with the context": (
        RunnableLambda(lambda question: in_thread(contextvars.copy_context())),
        QUESTION,
    ),
}
ASYNC_ONLY = {
    "async node": (graph_of(anode), {"question": QUESTION}),
    "async tool": (alook, {"query": QUESTION}),
}
SYNC_ONLY = {"middleware"}


def places():
    for name, (app, asked) in PLACES.items():
        for how in ("sync", "async"):
            if not (how == "async" and name in SYNC_ONLY):
                yield pytest.param(app, asked, how, id=f"{name}-{how}")
    for name, (app, asked) in ASYNC_ONLY.items():
        yield pytest.param(app, asked, "async", id=name)


def run(app, asked, how, config):
    return asyncio.run(app.ainvoke(asked, config)) if how == "async" else app.invoke(asked, config)


@pytest.mark.parametrize(("app", "asked", "how"), list(places()))
def test_everything_told_is_recorded_once_in_the_question(app, asked, how):
    recorder = Recorder()
    run(app, asked, how, recorder.config)
    assert len({span.context.trace_id for span in recorder.spans}) == 1
    kept = recorder.one("rag.filter fresh")
    assert kept[a.FILTER_KEPT] == ("returns", "sale")
    assert (kept[a.FILTER_DROPPED], kept[a.FILTER_REASONS]) == (("old",), ("superseded",))
    decided = recorder.one("rag.permission acl")
    assert decided[a.PERMISSION_DECISIONS] == ("allow", "allow", "deny")
    assert (decided[a.PERMISSION_REASONS], decided[a.PERMISSION_POLICY]) == (("role_not_granted",), "v7")
    ranked = recorder.one("rag.rerank cross")
    assert (ranked[a.RERANK_IDS], ranked[a.RERANK_SCORES]) == (("sale", "returns"), (0.9, 0.4))
    packed = recorder.one("rag.context pack")
    assert (packed[a.BUDGET_LIMIT], packed[a.BUDGET_USED], packed[a.CONTEXT_DROPPED_REASONS]) == (620, 13, ("budget",))
    (root,) = [span.attributes for span in recorder.spans if span.parent is None]
    assert (root[a.ANSWER_OUTCOME], root[a.ANSWER_CONFIDENCE]) == ("partial", 0.7)
    assert root[a.CITATION_IDS] == ("sale",)
    assert_well_formed(recorder.spans)


@pytest.mark.parametrize("how", ["sync", "async"])
def test_a_decorated_function_is_one_filter(how):
    recorder = Recorder()
    step = RunnableLambda(decorated, afunc=adecorated)
    run(Search(found=passages()) | step, QUESTION, how, recorder.config)
    (told,) = recorder.named("rag.filter")
    assert told.attributes[a.FILTER_DROPPED] == ("gift", "staff", "old")


def test_what_was_told_stays_when_nobody_reads_to_the_end():
    recorder = Recorder()
    stream = graph_of(lambda state: {"found": say()}).stream({"question": QUESTION}, recorder.config)
    next(stream)
    stream.close()
    (root,) = [span.attributes for span in recorder.spans if span.parent is None]
    assert (root[a.ANSWER_OUTCOME], root[a.ANSWER_CONFIDENCE], root[a.PARTIAL]) == ("partial", 0.7, True)


def test_side_by_side_each_retriever_has_its_own():
    recorder = Recorder()
    app = RunnableParallel(one=Searching(), two=Searching(), three=AsyncSearching())
    asyncio.run(app.ainvoke(QUESTION, recorder.config))
    searches = {span.context.span_id for span in recorder.named("retrieval")}
    assert len(searches) == 3
    above = [span.parent.span_id for span in recorder.named("rag.permission")]
    assert set(above) == searches
    assert_well_formed(recorder.spans)


@pytest.fixture
def outside(monkeypatch):
    """Where `stage` writes when there is no run."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(staging, "_tracer", provider.get_tracer("rag_probe"))
    return exporter


def test_a_thread_without_the_context_is_outside_of_the_question(outside):
    recorder = Recorder()
    RunnableLambda(lambda question: in_thread()).invoke(QUESTION, recorder.config)
    assert [span.name for span in recorder.spans] == ["invoke_workflow RunnableLambda"]
    assert {span.name.split(" ")[0] for span in outside.get_finished_spans()} == {f"rag.{kind}" for kind in KINDS}


def test_plain_functions_outside_of_langchain(outside):
    say()
    asyncio.run(asay())
    decorated(passages())
    assert len(outside.get_finished_spans()) == 10


def test_after_a_search_nothing_is_said_of_it_any_more(outside):
    recorder = Recorder()
    Searching().invoke(QUESTION, recorder.config)
    before = len(recorder.spans)
    say()
    assert len(recorder.spans) == before
    assert len(outside.get_finished_spans()) == 4


def test_a_search_inside_a_search_and_what_is_said_behind_it():
    class Outer(BaseRetriever):
        def _get_relevant_documents(self, query, *, run_manager):
            found = Search(found=passages()).invoke(query, config={"callbacks": run_manager.get_child()})
            with stage("filter", "outer") as kept:
                kept.keep(found[0])
            return found[:1]

    recorder = Recorder()
    (RunnableLambda(str) | Outer()).invoke(QUESTION, recorder.config)
    outer = next(span for span in recorder.named("retrieval") if a.RETRIEVAL_CANDIDATES in span.attributes)
    (told,) = recorder.named("rag.filter")
    assert told.parent.span_id == outer.context.span_id


def test_passages_without_ids_are_named_as_the_question_names_them():
    found = [each.model_copy(update={"id": None, "metadata": {"source": "a.md"}}) for each in passages()]

    def check(found):
        with stage("permission") as decided:
            for each in found:
                decided.allow(each)
        tell.citations(found[:1])
        return found

    recorder = Recorder()
    (Search(found=found) | check | (lambda found: AIMessage("x"))).invoke(QUESTION, recorder.config)
    ids = recorder.one("retrieval")[a.RETRIEVAL_IDS]
    assert recorder.one("rag.permission")[a.PERMISSION_IDS] == ids
    assert recorder.one("invoke_workflow")[a.CITATION_IDS] == ids[:1]
