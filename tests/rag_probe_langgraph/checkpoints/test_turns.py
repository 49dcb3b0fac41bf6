"""Turns of a thread: failures and recovery, forks, travel in time, edits, sparse histories (issue C)."""

from __future__ import annotations

import operator
import sqlite3
from contextlib import closing
from typing import Annotated, TypedDict

import pytest
from langchain_core.documents import Document
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.func import entrypoint, task
from langgraph.graph import END, START, StateGraph

from rag_probe.policy import CapturePolicy
from rag_probe.protocols import Selection
from rag_probe_langgraph.checkpoints import of_saver
from tests.rag_probe_langchain.apps import passages

from .stores import Kept, read


class State(TypedDict, total=False):
    question: str
    documents: list[Document]
    log: Annotated[list[str], operator.add]
    answer: str


@pytest.fixture(params=["memory", "sqlite"])
def store(request, tmp_path):
    if request.param == "memory":
        yield Kept(InMemorySaver(), None)
    else:
        path = tmp_path / "checkpoints.db"
        with closing(sqlite3.connect(path, check_same_thread=False)) as connection:
            yield Kept(SqliteSaver(connection), f"sqlite:///{path}")


def graph(saver, draft=lambda state: {"answer": f"To {state['question']}"}, **compiled):
    built = StateGraph(State)
    built.add_node("retrieve", lambda state: {"documents": passages("sale", "gift")})
    built.add_node("draft", draft)
    built.add_edge(START, "retrieve")
    built.add_edge("retrieve", "draft")
    built.add_edge("draft", END)
    return built.compile(checkpointer=saver, **compiled)


CONFIG = {"configurable": {"thread_id": "t"}, "metadata": {"rag.case.id": "c"}}


def outcomes(path):
    return [(step.stage.name, step.stage.outcome) for step in path.nodes]


def test_a_failure_and_the_recovery_from_it(store):
    tries = iter([TimeoutError("secret"), None])

    def draft(state):
        if (error := next(tries)) is not None:
            raise error
        return {"answer": "done"}

    app = graph(store.saver, draft)
    with pytest.raises(TimeoutError):
        app.invoke({"question": "q"}, CONFIG)
    (failed,) = read(store)
    assert outcomes(failed) == [("retrieve", "ok"), ("draft", "error")]
    assert (failed.error, failed.answer.outcome) == ("TimeoutError", "error")
    app.invoke(None, CONFIG)
    (recovered,) = read(store)
    assert outcomes(recovered) == [("retrieve", "ok"), ("draft", "recovered")]
    assert (recovered.error, recovered.answer.content.text) == (None, "done")


def test_each_input_is_a_turn_and_sees_nothing_of_the_one_before(store):
    app = graph(store.saver)
    for question in ("one", "two"):
        app.invoke({"question": question}, CONFIG)
    first, second = read(store)
    assert [path.question.text for path in (first, second)] == ["one", "two"]
    assert [path.answer.content.text for path in (first, second)] == ["To one", "To two"]
    assert len(second.retrievals) == 1


def test_a_fork_gives_each_branch_and_only_the_latest_is_the_cases(store):
    app = graph(store.saver)
    app.invoke({"question": "one"}, CONFIG)
    after_retrieval = next(each for each in app.get_state_history(CONFIG) if each.next == ("draft",))
    edited = app.update_state(after_retrieval.config, {"documents": passages("gift")})
    app.invoke(None, edited)
    old, new = read(store)
    assert (old.tags.case_id, new.tags.case_id) == (None, "c")
    assert any("later branch" in warning for warning in old.warnings)
    assert (old.retrieved.ids, new.filtered.kept) == (("sale", "gift"), ("gift",))
    assert old.question == new.question


def test_a_stop_before_a_node_leaves_it_pending(store):
    graph(store.saver, interrupt_before=["draft"]).invoke({"question": "q"}, CONFIG)
    (path,) = read(store)
    assert outcomes(path) == [("retrieve", "ok"), ("draft", "pending")]
    assert (path.partial, path.answer) == (True, None)


def test_functions_are_turns_too(store):
    @task
    def search(question: str) -> list[Document]:
        return passages("sale")

    @entrypoint(checkpointer=store.saver)
    def desk(question: str) -> str:
        found = search(question).result()
        return f"From {len(found)}"

    desk.invoke("How long?", CONFIG)
    (path,) = read(store)
    assert path.question.text == "How long?"
    assert path.retrieved.ids == ("sale",)
    assert path.answer.content.text == "From 1"


def test_content_off_holds_texts_back(store):
    from rag_probe.protocols import Selection
    from rag_probe_langgraph.checkpoints.source import of_saver

    graph(store.saver).invoke({"question": "canary"}, CONFIG)
    (path,) = of_saver(store.saver, policy=CapturePolicy()).paths(Selection())
    assert "canary" not in repr(path)


def mapped_by(store, **roles):
    return list(of_saver(store.saver, policy=CapturePolicy(content=True), roles=roles).paths(Selection()))


class Rewriting(State, total=False):
    query: str
    checked: bool


@pytest.mark.parametrize("channel", ["question", "query"])
def test_a_question_that_a_node_rewrites_is_the_one_that_was_asked(store, channel):
    """Contracts 1: the root's input; and what filters dropped in every round is one drop for each step."""
    built = StateGraph(Rewriting)
    built.add_node("retrieve", lambda state: {"documents": passages("sale", "gift")})
    built.add_node("grade", lambda state: {"documents": state["documents"][:1]})
    built.add_node("rewrite", lambda state: {channel: f"better: {state['question']}", "checked": True})
    built.add_node("draft", lambda state: {"answer": "done"})
    built.add_edge(START, "retrieve")
    built.add_edge("retrieve", "grade")
    built.add_conditional_edges(
        "grade", lambda state: "draft" if state.get("checked") else "rewrite", ["draft", "rewrite"]
    )
    built.add_edge("rewrite", "retrieve")
    built.compile(checkpointer=store.saver).invoke({"question": "asked"}, CONFIG)
    (mapped,) = mapped_by(store, question="question", documents="retrieved", answer="answer")
    (path,) = read(store)
    assert (mapped.question.text, path.question.text, path.answer.content.text) == ("asked", "asked", "done")
    assert [(drop.id, drop.step) for drop in path.filtered.dropped] == [("gift", "grade")]


def test_a_channel_that_the_mapping_calls_the_question_says_it_once(store):
    """Even where the input says it by another name; what is written there later is another wording of it."""
    built = StateGraph(Rewriting)
    built.add_node("condense", lambda state: {"query": "condensed"})
    built.add_node("rewrite", lambda state: {"query": "rewritten", "answer": "done"})
    built.add_edge(START, "condense")
    built.add_edge("condense", "rewrite")
    built.compile(checkpointer=store.saver).invoke({"question": "and then?"}, CONFIG)
    (path,) = mapped_by(store, query="question", answer="answer")
    assert path.question.text == "condensed"


@pytest.mark.parametrize("roles", [{"question": "question"}, {"documents": "retrieved", "note": "confidence"}])
def test_where_no_channel_is_read_as_the_answer_silence_is_no_abstention(store, roles):
    graph(store.saver).invoke({"question": "q"}, CONFIG)
    (path,) = mapped_by(store, **roles)
    assert path.answer is None
    assert "answer.outcome" in path.not_captured


@pytest.mark.parametrize(
    ("written", "outcome"),
    [
        ({"reply": "weeks", "sources": [1]}, None),
        ([{"reply": "weeks"}], None),
        (7, None),
        ({}, "abstained"),
        (None, "abstained"),
    ],
)
def test_an_answer_that_is_no_text_is_no_abstention(store, written, outcome):
    """As `with_structured_output` leaves it: nobody knows which field is the text, and yet something was said."""
    graph(store.saver, lambda state: {"answer": written}).invoke({"question": "q"}, CONFIG)
    (path,) = read(store)
    assert (path.answer and path.answer.outcome) == outcome
    assert ("answer.outcome" in path.not_captured) == (outcome is None)


def test_a_subgraph_with_a_memory_of_its_own_is_read_with_the_turn_that_ran_it(store):
    """`checkpointer=True`: its namespace names no task, and holds all turns of the thread."""
    built = StateGraph(State)
    built.add_node("inner", graph(True))
    built.add_node("polish", lambda state: {"answer": state["answer"] + "!"})
    built.add_edge(START, "inner")
    built.add_edge("inner", "polish")
    app = built.compile(checkpointer=store.saver)
    for question in ("one", "two"):
        app.invoke({"question": question}, CONFIG)
    for path, question in zip(read(store), ("one", "two"), strict=True):
        assert [step.stage.name for step in path.nodes] == ["inner", "retrieve", "draft", "polish"]
        assert [step.stage.name for step in path.retrievals] == ["retrieve"]
        assert (path.question.text, path.answer.content.text) == (question, f"To {question}!")
