"""What a usual message says is read in one frame, and is what the search for it finds (issue B, speed)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.outputs import ChatGeneration, Generation, LLMResult

from rag_probe_langchain.reading import facts
from rag_probe_langchain.reading.facts import NO_FACTS, facts_of

words = st.sampled_from(["stop", "gpt-1", " ", "", "x" * 300, 3, None])
counts = st.sampled_from([0, 1, 7, -1, 2**63, True, 2.0, None])
metadata = st.dictionaries(
    st.sampled_from(["finish_reason", "stop_reason", "model_name", "model", "token_usage"]), words, max_size=4
)
usual_metadata = st.fixed_dictionaries({"finish_reason": words, "model_name": words})
details = st.sampled_from([None, {}, {"cache_read": 2}])


@st.composite
def messages(draw):
    kind = draw(st.sampled_from([AIMessage, AIMessageChunk]))
    message = kind("said", id=draw(st.sampled_from([None, "1"])), response_metadata=draw(metadata | usual_metadata))
    usage = draw(
        st.none()
        | st.fixed_dictionaries(
            {"input_tokens": counts, "output_tokens": counts},
            optional={"total_tokens": counts, "total_cost": st.just(0), "input_token_details": details},
        )
    )
    message.usage_metadata = usage
    return message


chats = st.builds(
    lambda message, info: ChatGeneration(message=message, generation_info=info),
    messages(),
    st.none() | st.just({"finish_reason": "length"}),
)
results = st.builds(
    LLMResult,
    generations=st.lists(chats | st.just(Generation(text="plain")), max_size=2).map(lambda found: [found]),
    llm_output=st.none() | st.just({"model_name": "gpt-2", "token_usage": {"prompt_tokens": 5}}),
)


@given(results)
def test_the_usual_message_says_what_the_search_finds(result):
    assert facts_of(result) == facts._searched(result)


def test_most_messages_are_usual():
    usage = {"input_tokens": 7, "output_tokens": 1, "total_tokens": 8}
    message = AIMessage(
        "said", id="1", usage_metadata=usage, response_metadata={"finish_reason": "stop", "model_name": "gpt-1"}
    )
    found = facts._usual(LLMResult(generations=[[ChatGeneration(message=message)]]))
    assert found is not None
    assert (found.text, found.model, found.finish_reasons, found.cache_hit) == ("said", "gpt-1", ("stop",), False)


def test_no_result_says_nothing():
    assert facts_of(None) == NO_FACTS
