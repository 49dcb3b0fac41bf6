"""What tools found in a turn that goes on, read from a state's messages (issue B)."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from rag_probe.policy import CapturePolicy
from rag_probe_langchain.documents import Documents
from rag_probe_langchain.recalling import recall
from rag_probe_langchain.run import Known


def passages(*ids):
    return [Document(f"The text of {each}, as it was found.", id=each, metadata={"revision": "3"}) for each in ids]


def given_by_tool(*ids):
    return ToolMessage("found", tool_call_id="1", artifact=passages(*ids))


def recalled(state):
    request = SimpleNamespace(documents=Documents(CapturePolicy()), has_nodes=False, known=Known())
    recall(SimpleNamespace(request=request, inputs=state, parent=None))
    return request.known.last, set(request.documents.whole)


def test_the_last_search_is_the_last_known_set_and_the_others_are_known_too():
    calls = AIMessage("")
    state = {"messages": [HumanMessage("?"), calls, given_by_tool("a"), calls, given_by_tool("b"), given_by_tool("c")]}
    assert recalled(state) == (("b", "c"), {"a", "b", "c"})


def test_of_lists_in_the_state_the_narrowest_is_the_last_known_set():
    found = passages("a", "b", "c")
    assert recalled({"documents": found, "kept": found[1:]}) == (("b", "c"), {"a", "b", "c"})


def test_an_earlier_question_is_none_of_this_turn():
    state = {"messages": [HumanMessage("?"), given_by_tool("a"), AIMessage("!"), HumanMessage("?")]}
    assert recalled(state) == (None, set())


def test_passages_with_their_scores_are_passages():
    scored = ToolMessage("found", tool_call_id="1", artifact=[(each, 0.5) for each in passages("a", "b")])
    serde = JsonPlusSerializer()
    assert recalled({"messages": serde.loads_typed(serde.dumps_typed([scored]))}) == (("a", "b"), {"a", "b"})


@given(st.lists(st.sampled_from("abcdef"), min_size=1, unique=True))
def test_a_store_gives_back_what_it_was_given(ids):
    serde = JsonPlusSerializer()
    stored = serde.loads_typed(serde.dumps_typed([HumanMessage("?"), given_by_tool(*ids)]))
    assert recalled({"messages": stored}) == recalled({"messages": [HumanMessage("?"), given_by_tool(*ids)]})


@pytest.mark.parametrize(
    "artifact",
    [None, 1, "text", {}, [], [{}], [{"type": "Document"}], [{"type": "Document", "page_content": 1}], [[1]], {"a": 1}],
)
def test_of_anything_else_nothing_is_made(artifact):
    message = ToolMessage("text", tool_call_id="1", artifact=artifact)
    assert recalled({"messages": [message]}) == (None, set())


@pytest.mark.parametrize("state", [None, "text", [], {}, {"messages": []}, {"messages": ["text"]}])
def test_a_state_without_messages_holds_nothing(state):
    assert recalled(state) == (None, set())
