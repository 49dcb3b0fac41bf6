"""Agents: what is left of their searches and calls are messages, of which each turn owns its own (issue C)."""

from __future__ import annotations

import operator
from dataclasses import replace
from typing import Annotated, Any, TypedDict

import pytest
from langchain.agents import create_agent
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langgraph.channels.delta import DeltaChannel
from langgraph.graph import END, START, MessagesState, StateGraph

from tests.rag_probe_langchain.apps import ANSWER, Scripted, as_text, passages

from .stores import kept, read

CONFIG = {"configurable": {"thread_id": "t"}}


class Caller(Scripted):
    """A scripted model that may answer with a tool's call."""

    def bind_tools(self, tools: Any, **_: Any) -> Any:
        return self

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **_: Any) -> ChatResult:
        answer: Any = self._next()
        usage = {"input_tokens": 70, "output_tokens": 9, "total_tokens": 79}
        said = answer if isinstance(answer, AIMessage) else AIMessage(answer, usage_metadata=usage)
        return ChatResult(generations=[ChatGeneration(message=said)])


@tool(response_format="content_and_artifact")
def search(query: str) -> tuple[str, list[Document]]:
    """Search the rules."""
    found = passages("returns", "sale")
    return as_text(found), found


def call(name: str) -> AIMessage:
    usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
    return AIMessage("", tool_calls=[{"name": "search", "args": {"query": "x"}, "id": name}], usage_metadata=usage)


def agent(saver: Any) -> Any:
    model = Caller(answers=[call("1"), ANSWER, call("2"), "Fourteen days [2]."])
    return create_agent(model, [search], checkpointer=saver)


def expect(paths: Any) -> None:
    assert [path.question.text for path in paths] == ["How long?", "And in the sale?"]
    assert [path.answer.content.text for path in paths] == [ANSWER, "Fourteen days [2]."]
    for path in paths:
        assert [(step.stage.name, step.stage.documents.ids) for step in path.retrievals] == [
            ("search", ("returns", "sale"))
        ]
        assert [step.stage.query.text for step in path.retrievals] == ["x"]
        assert ("retrievals.query" in path.inferred, "retrievals.query" in path.not_captured) == (True, False)
        assert [(step.stage.input_tokens, step.stage.output_tokens) for step in path.generations] == [(10, 5), (70, 9)]
        assert len(path.tools) == 1
        assert (path.context.ids, path.citations.ids) == (("returns", "sale"), ("sale",))
        assert path.citations.valid == (True,)
        assert (path.partial, path.error) == (False, None)


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_each_turn_has_its_own_searches_and_calls(kind, tmp_path):
    with kept(kind, tmp_path) as store:
        app = agent(store.saver)
        for question in ("How long?", "And in the sale?"):
            app.invoke({"messages": [("user", question)]}, CONFIG)
        paths = read(store)
    expect(paths)
    assert [step.stage.name for step in paths[0].nodes] == ["model", "tools", "model"]


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_messages_that_are_written_again_count_once(kind, tmp_path):
    """An agent as a node: its graph's messages are the node's writes as well; and a node may return all there are."""
    with kept(kind, tmp_path) as store:
        built = StateGraph(MessagesState)
        built.add_node("agent", agent(None))
        built.add_node("all", lambda state: {"messages": state["messages"]})
        built.add_edge(START, "agent")
        built.add_edge("agent", "all")
        built.add_edge("all", END)
        app = built.compile(checkpointer=store.saver)
        for question in ("How long?", "And in the sale?"):
            app.invoke({"messages": [HumanMessage(question)]}, CONFIG)
        expect(read(store))


def test_which_argument_of_a_tool_is_its_query(tmp_path):
    """The one that is named as a question, else the only text; among several others nobody can tell."""

    @tool(response_format="content_and_artifact")
    def lookup(topic: str, shop: str = "acme", query: str = "") -> tuple[str, list[Document]]:
        """Look up rules."""
        return "found", passages("returns")

    asked = [{"topic": "a"}, {"topic": "a", "query": "b"}, {"topic": "a", "shop": "c"}]
    calls = [{"name": "lookup", "args": each, "id": str(place)} for place, each in enumerate(asked)]
    with kept("memory", tmp_path) as store:
        model = Caller(answers=[AIMessage("", tool_calls=calls), "Done."])
        create_agent(model, [lookup], checkpointer=store.saver).invoke({"messages": [("user", "How long?")]}, CONFIG)
        (path,) = read(store)
    queries = [step.stage.query for step in path.retrievals]
    assert [query and query.text for query in queries] == ["a", "b", None]


def test_a_delta_channel_is_read_from_what_was_written(tmp_path):
    """Its values are absent from the state; the writes are all there."""

    class Log(TypedDict, total=False):
        question: str
        documents: Annotated[
            list[Document], DeltaChannel(lambda old, new: [*old, *(one for each in new for one in each)])
        ]
        answer: str

    class Plain(TypedDict, total=False):
        question: str
        documents: Annotated[list[Document], operator.add]
        answer: str

    found = {}
    for state in (Log, Plain):
        folder = tmp_path / state.__name__
        folder.mkdir()
        with kept("sqlite", folder) as store:
            built = StateGraph(state)
            built.add_node("first", lambda _: {"documents": passages("returns")})
            built.add_node("second", lambda _: {"documents": passages("sale")})
            built.add_node("draft", lambda _: {"answer": ANSWER})
            built.add_edge(START, "first")
            built.add_edge("first", "second")
            built.add_edge("second", "draft")
            built.add_edge("draft", END)
            built.compile(checkpointer=store.saver).invoke({"question": "q"}, CONFIG)
            (path,) = read(store)
        assert path.retrieved.ids == ("returns", "sale")
        assert path.answer.content.text == ANSWER
        found[state] = replace(path, path_id="", started_at=None, latency_ms=None, nodes=())
    assert found[Log] == found[Plain]
