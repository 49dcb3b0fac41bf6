"""A state class says how its channels are read, instead of a mapping file (issue C: mapping file or decorator)."""

from __future__ import annotations

import operator
from dataclasses import dataclass, field
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.documents import Document
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from pydantic import BaseModel

from rag_probe.path import EvidencePath
from rag_probe.policy import CapturePolicy
from rag_probe.protocols import Selection
from rag_probe_langgraph.checkpoints import mapping, of_graph, of_saver, roles_of
from tests.rag_probe_langchain.apps import passages

READING: dict[str, Any] = {"question": "question", "documents": "retrieved", "mine": "permitted", "answer": "answer"}


class Bare(TypedDict, total=False):
    question: str
    documents: list[Document]
    mine: list[Document]
    answer: str
    notes: Annotated[list[str], operator.add]


@mapping(**READING)
class Typed(TypedDict, total=False):
    question: str
    documents: list[Document]
    mine: list[Document]
    answer: str
    notes: Annotated[list[str], operator.add]


@mapping(**READING)
@dataclass
class Data:
    question: str = ""
    documents: list[Document] = field(default_factory=list)
    mine: list[Document] = field(default_factory=list)
    answer: str = ""
    notes: Annotated[list[str], operator.add] = field(default_factory=list)


class Base(BaseModel):
    question: str = ""
    documents: list[Document] = []
    notes: Annotated[list[str], operator.add] = []


@mapping(**READING)
class Model(Base):
    mine: list[Document] = []
    answer: str = ""


def compiled(state: type, **options: Any) -> Any:
    built = StateGraph(state)
    built.add_node("retrieve", lambda _: {"documents": passages(), "notes": ["found"]})
    built.add_node("permit", lambda _: {"mine": passages()[:2], "notes": ["permitted"]})
    built.add_node("draft", lambda _: {"answer": "Thirty days."})
    for one, other in (
        (START, "retrieve"),
        ("retrieve", "permit"),
        ("permit", "draft"),
        ("draft", END),
    ):
        built.add_edge(one, other)
    return built.compile(**options)


def asked(graph: Any) -> Any:
    graph.invoke({"question": "How long?"}, {"configurable": {"thread_id": "t"}})
    return graph


def read(graph: Any, **options: Any) -> EvidencePath:
    (path,) = of_graph(graph, policy=CapturePolicy(content=True), **options).paths(Selection())
    return path


@pytest.mark.parametrize("state", [Typed, Data, Model])
def test_a_marked_state_is_read_as_it_says(state):
    graph = asked(compiled(state, checkpointer=InMemorySaver()))
    path = read(graph)
    assert {row.id: row.decision for row in path.permissions}["staff"] == "deny"
    assert (path.filtered, path.answer.content.text) == (None, "Thirty days.")
    assert path == read(graph, roles=READING)
    notes = graph.get_state({"configurable": {"thread_id": "t"}}).values["notes"]
    assert notes == ["found", "permitted"]  # its reducer still counts
    (by_saver,) = of_saver(graph.checkpointer, roles=roles_of(state), policy=CapturePolicy(content=True)).paths(
        Selection()
    )
    assert by_saver == path


def test_without_a_mark_types_and_names_say_it_and_what_is_given_comes_first():
    path = read(asked(compiled(Bare, checkpointer=InMemorySaver())))
    assert (path.permissions, path.filtered.kept) == (None, ("returns", "sale"))
    assert roles_of(Bare) == {}
    marked = asked(compiled(Typed, checkpointer=InMemorySaver()))
    assert read(marked, roles={**READING, "mine": "filtered"}).filtered.kept == ("returns", "sale")


@mapping(question="question", answer="answer")
class Outer(TypedDict, total=False):
    question: str
    answer: str


class Unmarked(TypedDict, total=False):
    question: str
    answer: str


@pytest.mark.parametrize(("state", "reads_permissions"), [(Outer, True), (Unmarked, False)])
def test_the_mark_of_a_subgraph_counts_beside_that_of_its_graph(state, reads_permissions):
    built = StateGraph(state)
    built.add_node("search", compiled(Typed))
    built.add_edge(START, "search")
    built.add_edge("search", END)
    path = read(asked(built.compile(checkpointer=InMemorySaver())))
    assert path.retrieved.ids == tuple(each.id for each in passages())
    assert (path.permissions is not None) == reads_permissions
    assert (path.question.text, path.answer.content.text) == ("How long?", "Thirty days.")


def test_what_a_mark_cannot_mean_is_said_where_the_class_is_defined():
    with pytest.raises(TypeError, match=r"mapping\(documnts=…\): Bare has no such field; it has question, documents"):
        mapping(documnts="retrieved")(Bare)
    nonsense: Any = "nonsense"
    with pytest.raises(TypeError, match=r"mapping\(documents='nonsense'\): expected one of question, retrieved"):
        mapping(documents=nonsense)(Bare)
