"""issue B, Privacy: what LangGraph was told not to trace of a node leaves with content on neither (`TracePolicy`)."""

from __future__ import annotations

import asyncio
import logging
from typing import TypedDict

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, configure_trace_policy
from langchain_core.documents import Document
from langchain_core.messages import AIMessage
from langgraph.graph import END, START, StateGraph
from langgraph.types import TracePolicy, omit_payload

from rag_probe import attributes as a
from rag_probe.policy import CapturePolicy
from rag_probe_langchain import trace_policy

from .apps import Scripted, Search, passages
from .recorded import Recorder

TEXT = "Goods can be sent back within thirty days."


class State(TypedDict, total=False):
    question: str
    passages: list[Document]


def find(state):
    return {"passages": [Document(id="returns", page_content=TEXT)]}


async def afind(state):
    return find(state)


def graph(policy, node=find):
    builder = StateGraph(State)
    builder.add_node("find", node, trace_policy=policy)
    builder.add_edge(START, "find")
    builder.add_edge("find", END)
    return builder.compile()


def recorded(app, mode="invoke", **policy):
    recorder = Recorder(policy=CapturePolicy(content=True, **policy))
    given = {"question": "How long?"}

    async def drain():
        return [part async for part in app.astream(given, recorder.config)]

    match mode:
        case "invoke":
            app.invoke(given, recorder.config)
        case "stream":
            list(app.stream(given, recorder.config))
        case "ainvoke":
            asyncio.run(app.ainvoke(given, recorder.config))
        case "astream":
            asyncio.run(drain())
    return recorder.one("retrieval")


MODES = [("invoke", find), ("stream", find), ("ainvoke", afind), ("astream", afind)]


@pytest.mark.parametrize(("mode", "node"), MODES)
def test_an_omitted_output_keeps_its_ids_and_loses_its_texts(mode, node):
    said = recorded(graph(TracePolicy(process_outputs=omit_payload), node), mode)
    assert said[a.RETRIEVAL_IDS] == ("returns",)
    assert said[a.RETRIEVAL_COUNT] == 1
    assert TEXT not in str(said)


@pytest.mark.parametrize(("mode", "node"), MODES)
@pytest.mark.parametrize(
    "policy",
    [None, TracePolicy(), TracePolicy(process_inputs=omit_payload), TracePolicy(process_outputs=lambda value: value)],
)
def test_what_is_not_omitted_leaves(mode, node, policy):
    assert recorded(graph(policy, node), mode)[a.RETRIEVAL_TEXTS] == (TEXT,)


def test_a_payload_that_is_changed_is_held_back_whole():
    """What a summary keeps of a text cannot be told from here: none of it leaves."""
    assert TEXT not in str(recorded(graph(TracePolicy(process_outputs=lambda value: {"size": len(value)}))))


def test_a_processor_that_fails_holds_back(caplog):
    def fail(value):
        raise RuntimeError(TEXT)

    with caplog.at_level(logging.CRITICAL, "langgraph"):
        said = recorded(graph(TracePolicy(process_outputs=fail)))
    assert TEXT not in str(said)


def test_an_omitted_input_holds_back_the_query():
    builder = StateGraph(str)
    builder.add_node("find", lambda query: query, trace_policy=TracePolicy(process_inputs=omit_payload))

    class Run:
        trace_policy = builder.nodes["find"].trace_policy

    assert trace_policy.held(Run.trace_policy, "How long?", []) == (True, False)


def test_runs_inside_the_node_are_not_affected():
    """As in LangGraph: `TracePolicy` is about the node's own run."""

    def search(state):
        return {"passages": Search(found=passages("returns")).invoke(state["question"])}

    app = graph(TracePolicy(process_inputs=omit_payload, process_outputs=omit_payload), search)
    assert "thirty days" in str(recorded(app))


def test_a_default_for_middleware_is_honoured_too():
    class Finding(AgentMiddleware):
        def before_agent(self, state, runtime):
            return {"messages": []}

    agent = create_agent(Scripted(answers=[AIMessage("x").text]), [], middleware=[Finding()])
    (name,) = [name for name in agent.nodes if name.startswith("Finding")]
    policy = agent.nodes[name].trace_policy
    assert trace_policy.held(policy, {"x": 1}, {"x": 1}) == (False, False)
    configure_trace_policy(TracePolicy(process_outputs=omit_payload))
    try:
        assert trace_policy.held(policy, {"x": 1}, {"x": 1}) == (False, True)
    finally:
        configure_trace_policy(None)


def test_frames_that_have_moved_cost_nothing_but_the_policy(monkeypatch):
    monkeypatch.setattr(trace_policy, "_START", frozenset({"elsewhere"}))
    assert recorded(graph(TracePolicy(process_outputs=omit_payload)))[a.RETRIEVAL_TEXTS] == (TEXT,)
