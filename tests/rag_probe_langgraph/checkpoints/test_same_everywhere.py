"""One graph on every store, sync and async: the same evidence path, and the same as from the trace (issue C, 1)."""

from __future__ import annotations

import operator
from dataclasses import replace
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.documents import Document
from langgraph.cache.memory import InMemoryCache
from langgraph.graph import END, START, StateGraph
from langgraph.types import CachePolicy, Command, Send, interrupt

from rag_probe.path import EvidencePath
from rag_probe.policy import CapturePolicy
from rag_probe_langgraph import RagProbeGraphHandler
from tests.rag_probe_langchain.apps import ANSWER, Scripted, Search, passages
from tests.rag_probe_langchain.recorded import Recorder
from tests.scenarios.recording import paths_of

from .everything import assembling
from .stores import akept, kept, read


class Desk(TypedDict, total=False):
    question: str
    documents: list[Document]
    graded: Annotated[list[str], operator.add]
    kept: list[Document]
    context: str
    drafts: Annotated[list[str], operator.add]
    approved: bool
    answer: str


def retrieve(state: Desk) -> Desk:
    return {"documents": Search(found=passages()).invoke(state["question"])}


def spread(state: Desk) -> list[Send]:
    return [Send("grade", {"one": each}) for each in state["documents"]]


def grade(state: dict[str, Any]) -> Desk:
    return {"graded": [state["one"].id] if state["one"].id not in {"old", "staff"} else []}


def gather(state: Desk) -> Desk:
    return {"kept": [each for each in state["documents"] if each.id in state["graded"]]}


def draft(state: Desk) -> Desk:
    asked = f"{state['context']}\n\n{state['question']}"
    return {"drafts": [Scripted(answers=[ANSWER]).invoke(asked).text]}


def again(state: Desk) -> str:
    return "approve" if len(state["drafts"]) > 1 else "draft"


def approve(state: Desk) -> Desk:
    return {"approved": interrupt("Shall I send it?")}


def send(state: Desk) -> Desk:
    return {"answer": state["drafts"][-1]}


def desk(saver: Any) -> Any:
    """Fan-out, subgraph, loop, node cache, interrupt."""
    built = StateGraph(Desk)
    built.add_node("retrieve", retrieve, cache_policy=CachePolicy())
    for node in (grade, gather, draft, approve, send):
        built.add_node(node.__name__, node)
    built.add_node("assemble", assembling())
    built.add_edge(START, "retrieve")
    built.add_conditional_edges("retrieve", spread, ["grade"])
    built.add_edge("grade", "gather")
    built.add_edge("gather", "assemble")
    built.add_edge("assemble", "draft")
    built.add_conditional_edges("draft", again, ["draft", "approve"])
    built.add_edge("approve", "send")
    built.add_edge("send", END)
    return built.compile(checkpointer=saver, cache=InMemoryCache())


pytestmark = pytest.mark.xdist_group("postgres")

ASKED = {"question": "How long do I have?"}
CONFIG = {"configurable": {"thread_id": "t"}, "metadata": {"rag.case.id": "c"}}
NODES = [
    ("retrieve", "ok"),
    *[("grade", "ok")] * 5,
    ("gather", "ok"),
    ("assemble", "ok"),
    ("build", "ok"),
    ("draft", "ok"),
    ("draft", "ok"),
    ("approve", "answered"),
    ("send", "ok"),
]


def comparable(path: EvidencePath) -> EvidencePath:
    """Without what differs from run to run: ids and times."""
    bare = [
        replace(step, latency_ms=None, stage=replace(step.stage, task_id=None, checkpoint_id=None, checkpoint_ns=None))
        for step in path.nodes or ()
    ]
    return replace(path, path_id="", started_at=None, latency_ms=None, nodes=tuple(bare))


def expect(paths: list[EvidencePath]) -> EvidencePath:
    (path,) = paths
    assert path.question.text == ASKED["question"]
    assert path.retrieved.ids == ("returns", "sale", "gift", "staff", "old")
    assert path.filtered.kept == ("returns", "sale", "gift")
    assert [(drop.id, drop.step) for drop in path.filtered.dropped] == [("staff", "gather"), ("old", "gather")]
    assert (path.context.ids, path.context.step) == (("returns", "sale", "gift"), "build")
    assert (path.answer.content.text, path.citations.ids, path.citations.valid) == (ANSWER, ("sale",), (True,))
    assert [(step.stage.name, step.stage.outcome) for step in path.nodes] == NODES
    assert (path.partial, path.error) == (False, None)
    (paused,) = [step.stage for step in path.nodes if step.stage.outcome == "answered"]
    assert (paused.asked.text, paused.answered.text) == ("Shall I send it?", "true")
    return comparable(path)


@pytest.fixture(scope="module")
def first() -> list[EvidencePath]:
    return []


@pytest.mark.parametrize("kind", ["memory", "sqlite", "postgresql"])
def test_sync(kind, tmp_path, first):
    with kept(kind, tmp_path) as store:
        app = desk(store.saver)
        app.invoke(ASKED, CONFIG)
        app.invoke(Command(resume=True), CONFIG)
        first.append(expect(read(store)))
    assert first[-1] == first[0]


@pytest.mark.parametrize("kind", ["memory", "sqlite", "postgresql"])
async def test_async(kind, tmp_path, first):
    async with akept(kind, tmp_path) as store:
        app = desk(store.saver)
        await app.ainvoke(ASKED, CONFIG)
        await app.ainvoke(Command(resume=True), CONFIG)
        first.append(expect(read(store)))
    assert first[-1] == first[0]


def test_the_trace_says_the_same_apart_from_declared_gaps(tmp_path):
    """A model's call leaves no message in this state, and a trace knows no checkpoint's times: all else is equal."""
    recorder = Recorder(RagProbeGraphHandler, policy=CapturePolicy(content=True))
    with kept("sqlite", tmp_path) as store:
        app = desk(store.saver)
        config = {**CONFIG, **recorder.config}
        app.invoke(ASKED, config)
        app.invoke(Command(resume=True), config)
        (stored,) = read(store)
    (traced,) = paths_of(recorder.spans)
    for field in ("question", "retrieved", "answer"):
        assert getattr(stored, field) == getattr(traced, field), field
    assert stored.filtered == traced.filtered
    assert stored.citations.ids == traced.citations.ids
    assert [(step.stage.name, step.stage.outcome, step.stage.task_id) for step in stored.nodes] == [
        (step.stage.name, step.stage.outcome, step.stage.task_id) for step in traced.nodes
    ]


def test_a_node_from_the_cache_left_what_it_left_when_it_ran(tmp_path):
    with kept("memory", tmp_path) as store:
        app = desk(store.saver)
        for thread in ("t", "u"):
            config = {**CONFIG, "configurable": {"thread_id": thread}}
            app.invoke(ASKED, config)
            app.invoke(Command(resume=True), config)
        ran, hit = read(store)
    assert replace(expect([hit]), thread_id="t") == expect([ran])
