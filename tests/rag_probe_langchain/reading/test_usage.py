"""Token usage as billed (must-handle 9, 12, 13; contracts 2)."""

from enum import Enum

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.caches import InMemoryCache
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.outputs import ChatGeneration, Generation, LLMResult

from rag_probe_langchain.reading.providers import provider_of
from rag_probe_langchain.reading.response import cache_hit_of, finish_reasons_of, response_model_of
from rag_probe_langchain.reading.usage import UNKNOWN, Usage, usage_of


def counted(**usage):
    """A message whose metadata nothing has validated, as after a cache hit or a foreign integration."""
    return AIMessage("x").model_copy(update={"usage_metadata": usage})


def raw(usage, key="token_usage"):
    return LLMResult(generations=[[Generation(text="x")]], llm_output={key: usage})


class TestStandard:
    def test_cached_tokens_are_part_of_the_input(self):
        message = counted(
            input_tokens=17_903, output_tokens=12, total_tokens=17_915, input_token_details={"cache_read": 17_817}
        )
        assert usage_of(message) == Usage(input_tokens=17_903, output_tokens=12, cached_tokens=17_817)

    def test_cached_tokens_reported_beside_the_input_are_added(self):
        message = counted(input_tokens=19, output_tokens=5, total_tokens=24, input_token_details={"cache_read": 39_000})
        assert usage_of(message).input_tokens == 39_019

    @pytest.mark.parametrize(
        ("details", "written"),
        [
            ({"cache_creation": 200}, 200),
            ({"cache_creation": 0, "ephemeral_5m_input_tokens": 120, "ephemeral_1h_input_tokens": 80}, 200),
            ({"cache_creation": 200, "ephemeral_5m_input_tokens": 200}, 200),
            ({"priority_cache_creation": 200}, 200),
            ({"cache_creation": 0}, 0),
            ({}, None),
        ],
    )
    def test_cache_written(self, details, written):
        message = counted(input_tokens=500, output_tokens=5, total_tokens=505, input_token_details=details)
        assert usage_of(message) == Usage(input_tokens=500, output_tokens=5, cache_write_tokens=written)

    def test_reasoning_inside_the_output(self):
        message = counted(input_tokens=5, output_tokens=90, total_tokens=95, output_token_details={"reasoning": 80})
        assert (usage_of(message).output_tokens, usage_of(message).reasoning_tokens) == (90, 80)

    def test_reasoning_beside_the_output(self):
        message = counted(input_tokens=5, output_tokens=90, total_tokens=175, output_token_details={"reasoning": 80})
        assert usage_of(message).output_tokens == 170
        message = counted(input_tokens=5, output_tokens=10, output_token_details={"reasoning": 80})
        assert usage_of(message).output_tokens == 90

    def test_service_tiers(self):
        message = counted(
            input_tokens=500,
            output_tokens=50,
            input_token_details={"flex_cache_read": 100, "flex": 400},
            output_token_details={"flex_reasoning": 20, "flex": 30},
        )
        assert (usage_of(message).cached_tokens, usage_of(message).reasoning_tokens) == (100, 20)

    def test_zero_of_everything_is_not_counted(self):
        assert usage_of(counted(input_tokens=0, output_tokens=0, total_tokens=0)) == UNKNOWN

    def test_an_empty_answer_has_zero_tokens(self):
        assert usage_of(counted(input_tokens=7, output_tokens=0, total_tokens=7)).output_tokens == 0


class TestRaw:
    @pytest.mark.parametrize(
        "given_usage",
        [
            {
                "prompt_tokens": 100,
                "completion_tokens": 20,
                "total_tokens": 120,
                "prompt_tokens_details": {"cached_tokens": 64},
            },
            {"input_tokens": 100, "output_tokens": 20, "input_tokens_details": {"cached_tokens": 64}},
            {"input_tokens": 36, "output_tokens": 20, "cache_read_input_tokens": 64},
            {"inputTokens": 36, "outputTokens": 20, "cacheReadInputTokens": 64},
            {"prompt_token_count": 100, "candidates_token_count": 20, "cached_content_token_count": 64},
            {
                "prompt_tokens": 100,
                "completion_tokens": 20,
                "prompt_cache_hit_tokens": 64,
                "prompt_cache_miss_tokens": 36,
            },
        ],
    )
    def test_every_provider_means_the_same(self, given_usage):
        assert usage_of(raw(given_usage)) == Usage(input_tokens=100, output_tokens=20, cached_tokens=64)

    def test_anthropic_counts_cache_beside_input(self):
        usage = usage_of(raw({"input_tokens": 19, "output_tokens": 3, "cache_read_input_tokens": 39_000}, "usage"))
        assert (usage.input_tokens, usage.cached_tokens) == (39_019, 39_000)

    def test_gemini_counts_thoughts_beside_output(self):
        usage = usage_of(
            raw(
                {
                    "prompt_token_count": 5,
                    "candidates_token_count": 10,
                    "thoughts_token_count": 80,
                    "total_token_count": 95,
                }
            )
        )
        assert (usage.output_tokens, usage.reasoning_tokens) == (90, 80)

    def test_ollama(self):
        generation = Generation(text="x", generation_info={"prompt_eval_count": 26, "eval_count": 9})
        assert usage_of(LLMResult(generations=[[generation]])) == Usage(input_tokens=26, output_tokens=9)

    def test_the_messages_own_figures_come_first(self):
        message = counted(input_tokens=10, output_tokens=1, total_tokens=11)
        result = LLMResult(
            generations=[[ChatGeneration(message=message)]], llm_output={"token_usage": {"prompt_tokens": 99}}
        )
        assert usage_of(result).input_tokens == 10

    def test_the_response_metadata(self):
        message = AIMessage("x", response_metadata={"token_usage": {"prompt_tokens": 10, "completion_tokens": 2}})
        assert usage_of(message) == Usage(input_tokens=10, output_tokens=2)


class TestUnknown:
    @pytest.mark.parametrize(
        "result",
        [
            None,
            "x",
            AIMessage("x"),
            AIMessageChunk("streamed without usage"),
            LLMResult(generations=[]),
            LLMResult(generations=[[]]),
            LLMResult(generations=[[Generation(text="x")]], llm_output={"token_usage": None}),
            raw({}),
            raw({"prompt_tokens": None, "completion_tokens": "12"}),
            raw({"prompt_tokens": True, "completion_tokens": -1}),
            raw({"prompt_tokens": float("nan"), "completion_tokens": float("inf")}),
            raw({"prompt_tokens": 2**70, "completion_tokens": [1]}),
            counted(input_tokens="a", output_tokens={}, input_token_details=[1], output_token_details="x"),
        ],
    )
    def test_is_none_never_zero(self, result):
        assert usage_of(result) == UNKNOWN

    def test_numbers_of_other_libraries(self):
        numpy = pytest.importorskip("numpy")
        usage = usage_of(raw({"prompt_tokens": numpy.int64(12), "completion_tokens": numpy.float64(3.0)}))
        assert usage == Usage(input_tokens=12, output_tokens=3)
        assert type(usage.input_tokens) is int
        odd = raw({"prompt_tokens": numpy.array([1, 2]), "completion_tokens": numpy.bool_(True)})
        assert usage_of(odd) == UNKNOWN


numbers = st.integers(-3, 10**6) | st.none() | st.booleans() | st.text(max_size=2) | st.floats() | st.lists(st.none())
names = st.sampled_from(
    ["input_tokens", "output_tokens", "total_tokens", "prompt_tokens", "completion_tokens", "cache_read_input_tokens"]
)
details = st.dictionaries(st.sampled_from(["cache_read", "cache_creation", "reasoning", "cached_tokens"]), numbers)
nests = st.sampled_from(["input_token_details", "output_token_details", "prompt_tokens_details"])


@given(st.dictionaries(names, numbers), st.dictionaries(nests, details | numbers))
def test_parts_never_exceed_the_whole(flat, nested):
    for result in (counted(**flat, **nested), raw({**flat, **nested})):
        usage = usage_of(result)
        assert all(count is None or count >= 0 for count in (usage.input_tokens, usage.output_tokens))
        assert usage.input_tokens != 0
        if usage.input_tokens is not None:
            assert (usage.cached_tokens or 0) + (usage.cache_write_tokens or 0) <= usage.input_tokens
        if usage.output_tokens is not None:
            assert (usage.reasoning_tokens or 0) <= usage.output_tokens or usage.output_tokens == 0


class TestResponse:
    def test_finish_reasons(self):
        class FinishReason(Enum):
            STOP = 1

        def result(*infos, **metadata):
            message = AIMessage("x", response_metadata=metadata)
            return LLMResult(generations=[[ChatGeneration(message=message, generation_info=info) for info in infos]])

        assert finish_reasons_of(result({"finish_reason": "stop"}, {"finish_reason": "length"})) == ("stop", "length")
        assert finish_reasons_of(result(None, stop_reason="end_turn")) == ("end_turn",)
        assert finish_reasons_of(result({"finish_reason": FinishReason.STOP})) == ("STOP",)
        assert finish_reasons_of(result({"finish_reason": 3})) == ()
        assert finish_reasons_of(None) == ()

    def test_response_model(self):
        assert response_model_of(AIMessage("x", response_metadata={"model_name": "gpt-x-2025"})) == "gpt-x-2025"
        assert response_model_of(raw({})) is None
        result = LLMResult(generations=[[Generation(text="x")]], llm_output={"model_name": "gpt-x"})
        assert response_model_of(result) == "gpt-x"

    @pytest.mark.parametrize(
        ("said", "name"),
        [
            ("openai", "openai"),
            ("azure", "azure.ai.openai"),
            ("anthropic", "anthropic"),
            ("amazon_bedrock", "aws.bedrock"),
            ("anthropic-bedrock", "aws.bedrock"),
            ("google_genai", "gcp.gemini"),
            ("google_vertexai", "gcp.vertex_ai"),
            ("cohere", "cohere"),
            ("MistralAI", "mistral_ai"),
            ("ollama", "ollama"),
            ("", None),
            (None, None),
            (3, None),
        ],
    )
    def test_provider(self, said, name):
        assert provider_of({"ls_provider": said}) == name

    def test_the_responses_provider_is_second(self):
        message = AIMessage("x", response_metadata={"model_provider": "bedrock_converse"})
        assert provider_of({}, message) == "aws.bedrock"
        assert provider_of({"ls_provider": "cohere"}, message) == "cohere"
        assert provider_of({"ls_provider": "mychatmodel"}, message) == "aws.bedrock"
        assert provider_of({"ls_provider": "mychatmodel"}) == "mychatmodel"


class Ends(BaseCallbackHandler):
    run_inline = True

    def __init__(self):
        self.hits = []

    def on_llm_end(self, response, **_):
        self.hits.append((cache_hit_of(response), usage_of(response).input_tokens))


class Counting(FakeListChatModel):
    def _generate(self, *args, **kwargs):
        result = super()._generate(*args, **kwargs)
        result.generations[0].message.usage_metadata = {"input_tokens": 5, "output_tokens": 2, "total_tokens": 7}
        return result


class TestCacheHit:
    """must-handle 12: a hit of the framework's cache is flagged, so that it is not billed."""

    async def test_sync_and_async(self):
        ends = Ends()
        model = Counting(responses=["a", "b"], cache=InMemoryCache())
        model.invoke("q", config={"callbacks": [ends]})
        model.invoke("q", config={"callbacks": [ends]})
        await model.ainvoke("q", config={"callbacks": [ends]})
        assert ends.hits == [(False, 5), (True, 5), (True, 5)]

    def test_without_usage(self):
        ends = Ends()
        model = FakeListChatModel(responses=["a", "b"], cache=InMemoryCache())
        for _ in range(2):
            model.invoke("q", config={"callbacks": [ends]})
        assert ends.hits == [(False, None), (True, None)]

    def test_an_old_entry_cannot_be_told(self):
        class Old(InMemoryCache):
            def lookup(self, prompt, llm_string):
                return [Generation(text="old")]

        ends = Ends()
        Counting(responses=["a"], cache=Old()).invoke("q", config={"callbacks": [ends]})
        assert ends.hits == [(None, None)]

    def test_a_free_model_is_no_hit(self):
        message = counted(input_tokens=5, output_tokens=1, total_tokens=6, total_cost=0).model_copy(update={"id": "1"})
        result = LLMResult(generations=[[ChatGeneration(message=message)]], llm_output={"model_name": "local"})
        assert cache_hit_of(result) is False
