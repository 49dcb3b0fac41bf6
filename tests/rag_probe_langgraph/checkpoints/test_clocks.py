"""Processes whose clocks disagree, and people who ask at once, share a thread (issue C, Rebuild)."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from langgraph.checkpoint.base import id as ids
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt

from rag_probe_langgraph.checkpoints.saved import Saved
from rag_probe_langgraph.checkpoints.turns import turns_of
from tests.rag_probe_langchain.apps import passages

from .stores import Kept, kept, read
from .test_turns import CONFIG, State

SECOND = 1_000_000_000


@pytest.fixture
def clock(monkeypatch):
    """The clock of the process that runs next."""

    class Clock:
        now = 1_700_000_000 * SECOND

        def time_ns(self) -> int:
            self.now += 1_000_000
            return self.now

        def behind(self, seconds: int) -> None:
            self.now -= seconds * SECOND
            monkeypatch.setattr(ids, "_last_v6_timestamp", None)

    clock = Clock()
    monkeypatch.setattr(ids, "_last_v6_timestamp", None)
    monkeypatch.setattr(ids, "time", clock)
    return clock


def graph(saver: Any, retrieve: Any = lambda state: {"documents": passages("sale")}, *, pauses: bool = False) -> Any:
    built = StateGraph(State)
    built.add_node("retrieve", retrieve)
    built.add_node("draft", lambda state: {"answer": f"To {state['question']}{interrupt('Go on?') if pauses else ''}"})
    built.add_node("send", lambda state: {})
    built.add_edge(START, "retrieve")
    built.add_edge("retrieve", "draft")
    built.add_edge("draft", "send")
    return built.compile(checkpointer=saver)


@pytest.mark.parametrize("kind", ["memory", "sqlite", "postgresql"])
@pytest.mark.xdist_group("postgres")
def test_who_goes_on_with_a_question_may_have_a_clock_that_is_behind(kind, tmp_path, clock):
    with kept(kind, tmp_path) as store:
        app = graph(store.saver, pauses=True)
        app.invoke({"question": "q"}, CONFIG)
        clock.behind(5)
        app.invoke(Command(resume="!"), CONFIG)
        (path,) = read(store)
    assert (path.answer.content.text, path.partial, path.retrieved.ids) == ("To q!", False, ("sale",))
    outcomes = [(step.stage.name, step.stage.outcome) for step in path.nodes]
    assert outcomes == [("retrieve", "ok"), ("draft", "answered"), ("send", "no_write")]
    assert (path.latency_ms, path.nodes[1].latency_ms) == (None, None)
    assert "latency_ms" in path.not_captured
    assert "latency_ms" not in path.inferred
    assert path.nodes[0].latency_ms > 0
    assert any("clocks disagree" in warning for warning in path.warnings)


def test_the_time_over_a_clock_that_is_behind_is_not_known_where_it_seems_to_be(clock):
    """It began so long before that the end looks later all the same."""

    def retrieve(state: State) -> State:
        clock.now += 10 * SECOND
        return {"documents": passages("sale")}

    app = graph(InMemorySaver(), retrieve, pauses=True)
    app.invoke({"question": "q"}, CONFIG)
    clock.behind(5)
    app.invoke(Command(resume="!"), CONFIG)
    (path,) = read(Kept(app.checkpointer, None))
    assert path.latency_ms is None
    assert any("clocks disagree" in warning for warning in path.warnings)


def test_turns_of_processes_whose_clocks_disagree_stay_apart(clock):
    app = graph(InMemorySaver())
    for question in ("one", "two"):
        app.invoke({"question": question}, CONFIG)
        clock.behind(5)
    paths = read(Kept(app.checkpointer, None))
    assert {path.answer.content.text: len(path.nodes) for path in paths} == {"To one": 3, "To two": 3}
    assert [path.warnings for path in paths] == [(), ()]


def test_two_who_ask_at_once_on_one_thread_each_have_their_question(tmp_path):
    together = threading.Barrier(2, timeout=100)

    def retrieve(state: State) -> State:
        together.wait()
        return {"documents": passages(state["question"])}

    with kept("sqlite", tmp_path) as store:
        app = graph(store.saver, retrieve)
        people = [threading.Thread(target=app.invoke, args=({"question": each}, CONFIG)) for each in ("sale", "gift")]
        for each in people:
            each.start()
        for each in people:
            each.join()
        graph(store.saver).invoke({"question": "later"}, CONFIG)
        paths = read(store)
    answers = {path.answer.content.text: path.retrieved.ids for path in paths}
    assert answers == {"To sale": ("sale",), "To gift": ("gift",), "To later": ("sale",)}
    assert [(len(path.nodes), path.partial, path.warnings) for path in paths] == [(3, False, ())] * 3


@pytest.mark.parametrize("parents", ["a", "ba", "bca", "bcb", "cab", "bad"])
def test_parents_that_come_back_to_where_they_began_are_damage(parents):
    """No chain is without end, and no step is lost."""
    saved = [Saved("t", "", name, parent, {"source": "loop"}, ()) for name, parent in zip("abc", parents, strict=False)]
    turns = turns_of(saved)
    assert {one.id for turn in turns for one in turn.saved} == {one.id for one in saved}
    for turn in turns:
        assert len({one.id for one in turn.saved}) == len(turn.saved)
