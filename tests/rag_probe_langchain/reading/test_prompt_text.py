"""The text of prompts and answers, whatever the shape of their content (must-handle 9, 14, 18)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, ChatMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.prompts import ChatPromptTemplate, PromptTemplate

from rag_probe_langchain.reading.prompt_text import (
    LONGEST_TEXT,
    asked_in,
    is_text_only,
    last_human_text,
    message_text,
    prompt_text,
)


def test_a_string_is_itself():
    assert prompt_text("Context: a") == "Context: a"


def test_messages_in_order():
    messages = [SystemMessage("Be brief."), HumanMessage("Why?"), AIMessage(""), ToolMessage("found", tool_call_id="1")]
    assert prompt_text(messages) == "Be brief.\n\nWhy?\n\n\n\nfound"


def test_prompt_values():
    assert prompt_text(PromptTemplate.from_template("Say {x}").invoke({"x": "hi"})) == "Say hi"
    chat = ChatPromptTemplate.from_messages([("system", "Be {x}"), ("human", "{q}")]).invoke(
        {"x": "brief", "q": "Why?"}
    )
    assert prompt_text(chat) == "Be brief\n\nWhy?"
    assert last_human_text(chat) == "Why?"


@pytest.mark.parametrize(
    "block",
    [
        "chunk",
        {"type": "text", "text": "chunk"},
        {"type": "text-plain", "text": "chunk", "mime_type": "text/plain"},
        {"type": "input_text", "text": "chunk"},
        {"type": "search_result", "title": "t", "content": [{"type": "text", "text": "chunk"}]},
        {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "chunk"}},
        {"type": "document", "source": {"type": "content", "content": [{"type": "text", "text": "chunk"}]}},
        {"type": "tool_result", "tool_use_id": "1", "content": [{"type": "text", "text": "chunk"}]},
        {"type": "function_call_output", "call_id": "1", "output": "chunk"},
        {"type": "non_standard", "value": {"text": "chunk"}},
        {"text": "chunk"},
        {"document": {"name": "n", "format": "txt", "source": {"text": "chunk"}}},
        {"toolResult": {"toolUseId": "1", "content": [{"text": "chunk"}]}},
        {"toolResult": {"toolUseId": "1", "content": [{"json": {"results": [{"page_content": "chunk", "n": 1}]}}]}},
        {"type": "server_tool_result", "tool_call_id": "1", "output": [{"type": "text", "text": "chunk"}]},
        {"type": "tool_result", "tool_use_id": "1", "content": "chunk"},
        {"type": "output_text", "text": "chunk", "annotations": []},
    ],
)
def test_blocks_that_hold_text(block):
    assert prompt_text([HumanMessage([block, {"type": "text", "text": "Why?"}])]) == "chunk\n\nWhy?"


@pytest.mark.parametrize(
    "block",
    [
        {"type": "image", "base64": "AAAA", "mime_type": "image/png"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
        {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "AAAA"}},
        {},
        {"type": None},
    ],
)
def test_blocks_that_hold_none(block):
    assert prompt_text([HumanMessage([block])]) == ""


def test_other_spellings_of_messages():
    assert prompt_text([("human", "a"), {"role": "assistant", "content": "b"}, ["user", "c"]]) == "a\n\nb\n\nc"
    assert prompt_text([[HumanMessage("a")]]) == "a"


def test_bounds():
    assert len(prompt_text("x" * 1_000_000)) == LONGEST_TEXT
    assert len(prompt_text([HumanMessage("🙂" * 300_000)] * 5)) == LONGEST_TEXT
    endless: list[object] = []
    endless += [endless] * 100
    assert prompt_text(endless) == ""


class TestLastHuman:
    def test_the_last_one(self):
        messages = [
            HumanMessage("first"),
            AIMessage("a"),
            HumanMessage([{"type": "text", "text": "second"}]),
            AIMessage("b"),
        ]
        assert last_human_text(messages) == "second"
        assert last_human_text({"messages": messages}) == "second"

    def test_other_spellings(self):
        assert last_human_text([("user", "q"), ("ai", "a")]) == "q"
        assert (
            last_human_text({"messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]})
            == "q"
        )
        assert last_human_text(ChatMessage(role="user", content="q")) is None
        assert last_human_text(HumanMessage("q")) == "q"

    @pytest.mark.parametrize(
        "state", [None, {}, [], "question", {"messages": None}, [AIMessage("a")], [[[], 1]], {"messages": [3]}]
    )
    def test_none(self, state):
        assert last_human_text(state) is None


contents = st.recursive(
    st.none() | st.text(max_size=5) | st.integers() | st.binary(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "text", "content", "role", "source", "messages", "x"]), inner, max_size=4
        )
    ),
    max_leaves=20,
)


@given(contents)
def test_odd_content_never_raises(content):
    assert isinstance(prompt_text(content), str)
    assert isinstance(message_text(content), str)
    last_human_text(content)


@given(
    st.lists(
        st.text(max_size=8) | st.builds(lambda text: {"type": "text", "text": text}, st.text(max_size=8)), max_size=4
    )
)
def test_a_message_says_what_langchain_says(blocks):
    message = AIMessage(content=blocks)
    assert message_text(message) == str(message.text)


said = st.text(max_size=8) | st.lists(
    st.sampled_from(["a", {"type": "text", "text": "b"}, {"type": "image", "url": "x"}]), max_size=3
)
spoken = st.one_of(
    st.builds(HumanMessage, said),
    st.builds(SystemMessage, said),
    st.builds(AIMessage, said, tool_calls=st.sampled_from([[], [{"name": "f", "args": {}, "id": "1"}]])),
    st.builds(ToolMessage, said, tool_call_id=st.just("1")),
)


@given(st.text() | st.lists(spoken, min_size=1, max_size=4))
def test_what_was_asked_at_a_glance_is_what_a_look_into_every_block_says(prompt):
    """Issue B, speed."""
    assert asked_in(prompt) == (prompt_text(prompt), is_text_only(prompt))
