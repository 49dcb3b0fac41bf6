"""The default estimate is calibrated by the model's own usage, where that is known, and says so (checklist 98)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.documents import Document
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.runnables import RunnableLambda

from rag_probe import attributes as a
from rag_probe_langchain.calibration import NAME, calibrated, has_more_than_text
from rag_probe_langchain.tokens import ESTIMATE, Tokenizer
from tests.rag_probe_langchain.apps import Search, as_text
from tests.rag_probe_langchain.recorded import Recorder

WORDS = Tokenizer("words", lambda text: len(text.split()))


def three(opening, sentence, times):
    return [Document(id=str(place), page_content=f"{opening} {place}: {sentence * times}") for place in (1, 2, 3)]


FOUND = three("Rule", "goods can be sent back. ", 20)
CHINESE = three("规则", "商品可以在三十天内退回。", 30)


def call(found=FOUND, tokens=300, bound=None, build=as_text, **options):
    usage = None if tokens is None else {"input_tokens": tokens, "output_tokens": 1, "total_tokens": tokens + 1}
    model = GenericFakeChatModel(messages=iter([AIMessage("x", usage_metadata=usage)]))
    recorder = Recorder(**options)
    (Search(found=found) | build | (model.bind(**bound) if bound else model)).invoke("q", recorder.config)
    return recorder.one("chat")


def test_each_passage_has_its_share_of_what_the_model_counted():
    seen = call()
    size = len(as_text(FOUND))
    assert seen[a.BUDGET_TOKENIZER] == NAME
    assert seen[a.CONTEXT_TOKENS] == tuple(-(-len(each.page_content) * 300 // size) for each in FOUND)
    assert 298 <= seen[a.BUDGET_USED] <= 303


def test_a_script_with_many_characters_is_no_longer_underestimated():
    size = len(as_text(CHINESE))
    seen = call(CHINESE, tokens=size)
    assert 0.95 * size < seen[a.BUDGET_USED] < 1.05 * size
    assert call(CHINESE, tokens=None)[a.BUDGET_USED] < 0.3 * size


def test_nothing_is_remembered_from_call_to_call():
    first = call(tokens=300)[a.CONTEXT_TOKENS]
    call(tokens=200)
    assert call(tokens=300)[a.CONTEXT_TOKENS] == first
    assert call(tokens=None)[a.BUDGET_TOKENIZER] == ESTIMATE.name


@pytest.mark.parametrize("tokens", [None, 0, 5, 100_000])
def test_usage_that_is_unknown_or_of_something_else_does_not_count(tokens):
    seen = call(tokens=tokens)
    assert seen[a.BUDGET_TOKENIZER] == ESTIMATE.name
    assert seen[a.CONTEXT_TOKENS] == tuple(ESTIMATE.count(each.page_content) for each in FOUND)


@pytest.mark.parametrize(
    "bound",
    [
        {"tools": [{"type": "function", "function": {"name": "f"}}]},
        {"functions": [{"name": "f"}]},
        {"response_format": {"type": "json_schema"}},
        {"previous_response_id": "r"},
        {"cached_content": "c"},
    ],
)
def test_a_call_with_more_than_text_is_not_calibrated(bound):
    assert call(bound=bound)[a.BUDGET_TOKENIZER] == ESTIMATE.name
    assert has_more_than_text(bound)


def test_nor_one_with_an_image():
    def build(found):
        return [
            HumanMessage(
                [
                    {"type": "text", "text": as_text(found)},
                    {"type": "image", "base64": "AAAA", "mime_type": "image/png"},
                ]
            )
        ]

    assert call(build=build)[a.BUDGET_TOKENIZER] == ESTIMATE.name


def test_text_in_blocks_and_system_prompts_is_text():
    def build(found):
        return [SystemMessage(as_text(found[:1])), HumanMessage([{"type": "text", "text": as_text(found[1:])}])]

    assert call(build=build)[a.BUDGET_TOKENIZER] == NAME


def test_nor_a_short_prompt():
    short = [Document(id="1", page_content="Goods can be sent back within thirty days of delivery.")]
    assert call(short, tokens=14)[a.BUDGET_TOKENIZER] == ESTIMATE.name


def test_a_chosen_tokenizer_stays():
    assert call(tokenizer=WORDS)[a.BUDGET_TOKENIZER] == "words"


def test_a_passage_cut_by_the_prompt_costs_what_is_left_of_it():
    seen = call(build=RunnableLambda(lambda found: as_text(found[:2]) + "\n\n" + found[2].page_content[:200]))
    assert seen[a.CONTEXT_TRUNCATED] == (False, False, True)
    assert seen[a.CONTEXT_TOKENS][2] < seen[a.CONTEXT_TOKENS][1]


@given(st.lists(st.text(max_size=400), min_size=1, max_size=8), st.integers(1, 10_000))
def test_the_shares_add_up_to_what_the_model_counted(parts, tokens):
    text = "".join(parts)
    tokenizer = calibrated(text, tokens)
    shares = [tokenizer.count(part) for part in parts]
    if tokenizer is ESTIMATE:
        assert len(text.encode("utf-8", "surrogatepass")) < 1_000 or not 1.5 <= len(text.encode()) / tokens <= 8
    else:
        assert tokens <= sum(shares) <= tokens + len(parts)
