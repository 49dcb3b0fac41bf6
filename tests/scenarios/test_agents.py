"""Agents: whole span trees and the paths made of them, by the callback alone, equal in every calling mode (issue B)."""

from __future__ import annotations

import re

import pytest
from langchain.agents import create_agent
from langgraph.types import Command

from rag_probe import attributes as a
from rag_probe_langchain import RagProbeCallbackHandler, pauses
from rag_probe_langgraph import RagProbeGraphHandler
from tests.scenarios.agents import (
    AGENTS,
    ASKED,
    broken,
    calls,
    fetch,
    finds_and_asks,
    look,
    model,
    reviewed,
    search,
    with_sub_agent,
)
from tests.scenarios.gist import told
from tests.scenarios.graph_modes import MODES
from tests.scenarios.recording import Recording, paths_of, ticking

LENGTH = re.compile("rag.prompt.length=[0-9]+")
RACING = "several tools at once"


def ask(agent, mode="invoke", kind=RagProbeGraphHandler, **config):
    recording = Recording(kind)
    with ticking():
        MODES[mode](agent, ASKED, {"callbacks": [recording.handler], **config})
    return recording


@pytest.mark.parametrize("name", AGENTS)
def test_the_tree_and_the_path(name, snapshot):
    assert told(ask(AGENTS[name]()), racing=name == RACING) == snapshot


@pytest.mark.parametrize("mode", [mode for mode in MODES if mode != "invoke"])
def test_they_are_the_same_however_an_agent_is_asked(mode):
    for name in ("a retriever tool", "several tools at once", "every hook", "an agent as a node", "an agent as a tool"):
        agent = AGENTS[name]
        racing = name == RACING
        found, wanted = told(ask(agent(), mode), racing=racing), told(ask(agent()), racing=racing)
        if mode == "stream_events v3":  # which writes a message without text as no block at all
            found, wanted = ([LENGTH.sub("", line) for line in lines] for lines in (found, wanted))
        assert found == wanted, name


def test_they_are_the_same_by_either_handler():
    for name, agent in AGENTS.items():
        one, other = ask(agent()), ask(agent(), kind=RagProbeCallbackHandler)
        assert [line.name for line in one.spans] == [line.name for line in other.spans] or name == RACING
        assert one.tree(parallel=True) == other.tree(parallel=True), name


@pytest.mark.parametrize("mode", ["invoke", "ainvoke", "stream"])
def test_a_tool_that_fails_fails_the_question(mode, snapshot):
    recording = Recording(RagProbeGraphHandler)
    agent = create_agent(model(calls(("broken", "gift"))), [broken])
    with ticking(), pytest.raises(ValueError, match="canary"):
        MODES[mode](agent, ASKED, {"callbacks": [recording.handler]})
    assert told(recording) == snapshot(name="broken") if mode == "invoke" else told(recording)
    (path,) = paths_of(recording.spans)
    assert (path.error, path.answer.outcome) == ("ValueError", "error")
    assert "canary" not in str([dict(span.attributes) for span in recording.spans])


def test_a_search_that_is_approved_first_is_one_question(snapshot):
    agent, recording = reviewed(), Recording(RagProbeGraphHandler)
    config = {"callbacks": [recording.handler], "configurable": {"thread_id": "t"}}
    with ticking():
        agent.invoke(ASKED, config)
        assert not any(name.startswith(("rag.answer", "rag.citation")) for name in recording.spans[-1].attributes)
        agent.invoke(Command(resume={"decisions": [{"type": "approve"}]}), config)
    assert told(recording, parallel=False) == snapshot
    (path,) = paths_of(recording.spans)
    assert not path.partial


def go_on(finder, kind=RagProbeGraphHandler, between=lambda: None):
    agent, recording = finds_and_asks(finder), Recording(kind)
    config = {"callbacks": [recording.handler], "configurable": {"thread_id": "t"}}
    agent.invoke(ASKED, config)
    between()
    agent.invoke(Command(resume={"decisions": [{"type": "approve"}]}), config)
    return recording


@pytest.mark.parametrize("between", [lambda: None, pauses.clear], ids=["here", "in another process"])
@pytest.mark.parametrize("kind", [RagProbeGraphHandler, RagProbeCallbackHandler])
@pytest.mark.parametrize(
    ("finder", "found"),
    [(fetch, ("staff", "gift")), (look("content_and_artifact"), ("gift", "sale")), (search, ("returns", "old"))],
    ids=["artifact", "retriever tool", "quoted passages"],
)
def test_what_was_found_before_somebody_approved_is_known_afterwards(finder, found, kind, between):
    """Issue B: the answer comes after the pause, and rests on what was searched before it."""
    (path,) = paths_of(go_on(finder, kind, between).spans)
    assert (path.retrieved.ids, path.context.ids) == (found, found)
    assert (path.citations.ids, path.citations.valid) == (found[:1], (True,))


def test_of_a_tool_that_keeps_no_passages_nothing_is_claimed_after_a_pause():
    (path,) = paths_of(go_on(look()).spans)
    assert (path.retrieved.ids, path.context) == (("gift", "sale"), None)
    assert "context" in path.not_captured


@pytest.mark.parametrize(("inner", "outer"), [("researcher", "desk"), ("researcher", None), (None, "desk")])
def test_an_agent_inside_an_agent_has_a_span_where_either_has_a_name(inner, outer):
    names = [span.name for span in ask(with_sub_agent(inner, outer)).spans]
    assert names.count(f"invoke_agent {inner or 'LangGraph'}") == (1 if inner else 0)
    assert names[-1] == f"invoke_agent {outer or 'LangGraph'}"


def test_usage_is_counted_once():
    """must-handle 11: on the model's own spans, not on those around them."""
    for name, agent in AGENTS.items():
        for span in ask(agent()).spans:
            assert (a.INPUT_TOKENS in span.attributes) == (span.name.startswith("chat") and span.status.is_unset), (
                name,
                span.name,
            )


def test_the_older_agent_of_langgraph_is_a_graph(snapshot):
    from langgraph.prebuilt import create_react_agent

    with pytest.warns(DeprecationWarning, match="create_agent"):
        agent = create_react_agent(model(calls(("look", "gift")), "Never [1]."), [look()], name="desk")
    assert told(ask(agent)) == snapshot
