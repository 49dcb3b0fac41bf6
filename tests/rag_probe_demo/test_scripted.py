"""The model without a key: scripted replies by attempt, else a sentence of its prompt, the same streamed."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage

from rag_probe_demo.corpus import load_passages
from rag_probe_demo.prompts import NO_ANSWER, REFUSED
from rag_probe_demo.scripted import ScriptedChatModel, best_sentence

MODEL = ScriptedChatModel(script={"Is it free?": ["Yes.", "Yes [a]."]})
PROMPT = "Passages:\n[a] Label. It costs 5 euros.\n[b] Parcel. The warehouse sends parcels on Monday.\n\nQuestion: {}"


def _ask(question: str, *more: AIMessage | HumanMessage) -> AIMessage:
    return MODEL.invoke([HumanMessage(PROMPT.format(question)), *more])


def test_replies_by_attempt() -> None:
    assert _ask("Is it free?").text == "Yes."
    refusal = HumanMessage(f"{REFUSED} cite.")
    assert _ask("Is it free?", AIMessage("Yes."), refusal).text == "Yes [a]."
    assert _ask("Is it free?", refusal, refusal, refusal).text == "Yes [a]."


def test_without_a_script_the_closest_sentence_is_quoted_with_its_passage() -> None:
    assert _ask("When does the warehouse send parcels?").text == "The warehouse sends parcels on Monday [b]."


def test_without_shared_words_there_is_no_answer() -> None:
    assert _ask("Who is the mayor?").text == NO_ANSWER


def test_usage_is_counted_and_a_stream_says_the_same() -> None:
    prompt = [HumanMessage(PROMPT.format("Is it free?"))]
    whole = MODEL.invoke(prompt)
    streamed = AIMessageChunk(content="")
    for chunk in MODEL.stream(prompt):
        streamed += chunk
    assert streamed.text == whole.text
    assert streamed.usage_metadata == whole.usage_metadata
    assert whole.usage_metadata == {"input_tokens": 28, "output_tokens": 1, "total_tokens": 29}
    assert streamed.response_metadata == whole.response_metadata


PASSAGES = [(str(each.id), each.page_content) for each in load_passages(["northwind", "halcyon", "shared", "store"])]
WORDS = sorted({word for _, text in PASSAGES for word in text.split()})


@given(st.lists(st.sampled_from(WORDS), max_size=12), st.lists(st.sampled_from(PASSAGES), max_size=5))
def test_what_is_quoted_stands_in_the_passage_that_is_cited(words: list[str], given: list[tuple[str, str]]) -> None:
    answer = best_sentence(" ".join(words), given)
    if answer != NO_ANSWER:
        sentence, _, cited = answer.removesuffix("].").rpartition(" [")
        assert sentence in dict(given)[cited]
