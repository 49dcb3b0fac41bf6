"""The question and the answer of a root, by the rules of contracts 1."""

from __future__ import annotations

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, HumanMessageChunk, ToolMessageChunk
from langchain_core.output_parsers import StrOutputParser
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import RunnableLambda
from pydantic import BaseModel

from rag_probe import attributes as a
from rag_probe_langchain.question import question_in
from tests.scenarios.recording import paths_of

from .apps import Scripted, Search, as_text, passages
from .recorded import Recorder

MESSAGES = [HumanMessage("first"), AIMessage("reply"), HumanMessage("last")]


class Asked(BaseModel):
    question: str


class Lazy(dict):
    """Fetches what it gives, or cannot."""

    def get(self, key, default=None):
        raise ConnectionError(key)


@pytest.mark.parametrize("key", ["thread_id", "session_id", "conversation_id"])
@pytest.mark.parametrize("streamed", [False, True])
def test_the_conversation_of_a_chain_is_that_of_its_configuration(key, streamed):
    """Which newer LangChains show to no handler (issue B: oldest and newest)."""
    recorder = Recorder()
    chain = Search(found=passages("gift")) | as_text | Scripted(answers=["None."]) | StrOutputParser()
    config = {**recorder.config, "configurable": {key: "talk-7"}}
    assert "".join(chain.stream("asked", config)) if streamed else chain.invoke("asked", config)
    assert recorder.one("invoke_workflow")[a.CONVERSATION_ID] == "talk-7"


def test_a_conversation_that_shows_late_is_told_of_a_root_that_has_begun(monkeypatch):
    monkeypatch.setattr("rag_probe_langchain.spans.PATIENCE", -1)
    recorder = Recorder()
    marked = RunnableLambda(lambda asked: asked).with_config(run_name="step", metadata={"rag.stage": "filter"})
    (marked | Search(found=passages("gift"))).invoke("asked", {**recorder.config, "configurable": {"thread_id": "t"}})
    assert recorder.one("invoke_workflow")[a.CONVERSATION_ID] == "t"


@pytest.mark.parametrize(
    ("inputs", "expected"),
    [
        ("asked", "asked"),
        ({"question": "asked", "query": "no"}, "asked"),
        ({"query": "asked"}, "asked"),
        ({"input": "asked"}, "asked"),
        ({"question": HumanMessage("asked")}, "asked"),
        ({"messages": MESSAGES}, "last"),
        ({"messages": [HumanMessageChunk("asked"), AIMessageChunk("reply")]}, "asked"),
        (MESSAGES, "last"),
        ({"messages": [("human", "asked"), ("ai", "reply")]}, "asked"),
        ({"messages": [{"role": "user", "content": "asked"}]}, "asked"),
        (Asked(question="asked"), "asked"),
        ({"text": "no"}, None),
        (Lazy(), None),
        ("", None),
        (None, None),
        (7, None),
    ],
)
def test_the_question(inputs, expected):
    assert question_in(inputs) == expected


def answer(shape):
    """The root's attributes when the chain returns `shape(text of the model)`."""
    recorder = Recorder()
    model = Scripted(answers=["Never [1]."])
    chain = Search(found=passages("gift")) | as_text | model | RunnableLambda(shape)
    chain.invoke("Are gift cards taken back?", recorder.config)
    return recorder.one("invoke_workflow")


@pytest.mark.parametrize(
    "shape",
    [
        lambda message: message.text,
        lambda message: message,
        lambda message: {"answer": message.text, "verdict": "accepted"},
        lambda message: {"verdict": "accepted", "draft": message.text},
        lambda message: {"messages": [HumanMessage("?"), message]},
        lambda message: {"messages": [HumanMessage("?"), AIMessageChunk(message.content)]},
    ],
)
def test_the_answer(shape):
    root = answer(shape)
    assert root[a.ANSWER_LENGTH] == len("Never [1].")
    assert root[a.CITATION_IDS] == ("gift",)
    assert root[a.CITATION_VALID] == (True,)
    assert root[a.INFERRED] == ("answer.outcome",)


def test_an_answer_that_the_root_does_not_return_is_inferred():
    root = answer(lambda message: {"done": True})
    assert root[a.ANSWER_LENGTH] == len("Never [1].")
    assert root[a.INFERRED] == ("answer.outcome", "answer.text")


@pytest.mark.parametrize("last", [AIMessageChunk("Ask the desk."), ToolMessageChunk("Ask the desk.", tool_call_id="1")])
def test_the_last_word_may_be_a_chunk(last):
    root = answer(lambda message: {"messages": [HumanMessage("?"), last]})
    assert root[a.ANSWER_LENGTH] == len("Ask the desk.")


def test_an_answer_that_was_written_over_is_the_one_that_is_returned():
    root = answer(lambda message: {"answer": message.text + " Ask the desk."})
    assert root[a.ANSWER_LENGTH] == len("Never [1]. Ask the desk.")
    assert root[a.CITATION_VALID] == (True,)


def test_a_model_called_to_search_does_not_answer():
    recorder = Recorder()

    class Rewriting(Search):
        def _get_relevant_documents(self, query, *, run_manager):
            Scripted(answers=["rewritten"]).invoke(query, {"callbacks": run_manager.get_child()})
            return list(self.found)

    (Rewriting(found=passages("gift")) | RunnableLambda(lambda found: {"found": found})).invoke("?", recorder.config)
    root = recorder.one("invoke_workflow")
    assert a.ANSWER_LENGTH not in root
    assert root[a.ANSWER_OUTCOME] == "abstained"


def test_an_answer_without_citations_is_known_to_have_none():
    recorder = Recorder()
    Scripted(answers=["No."]).pipe(lambda message: message.text).invoke("?", recorder.config)
    assert recorder.one("invoke_workflow")[a.CITATION_COUNT] == 0


class Reply(BaseModel):
    answer: str
    citations: list[str]


class Verdict(BaseModel):
    refund: bool
    citations: list[str]


class Calling(Scripted):
    """Answers by a tool's call, as models do for structured output."""

    call: dict

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        message = AIMessage("", tool_calls=[{"name": "reply", "args": self.call, "id": "1"}])
        return ChatResult(generations=[ChatGeneration(message=message)])


STRUCTURED = {
    "a model": lambda call: Reply(**call),
    "a mapping": lambda call: call,
    "an agent's": lambda call: {"messages": [HumanMessage("?")], "structured_response": Reply(**call)},
}


def structured(call, shape):
    recorder = Recorder()
    model = Calling(answers=[], call=call)
    parse = RunnableLambda(lambda message: shape(message.tool_calls[0]["args"]))
    (Search(found=passages("gift")) | as_text | model | parse).invoke("Are gift cards taken back?", recorder.config)
    return recorder.one("invoke_workflow")


@pytest.mark.parametrize("shape", STRUCTURED)
def test_an_answer_may_be_a_structure(shape):
    root = structured({"answer": "Never.", "citations": ["gift", "nowhere-9"]}, STRUCTURED[shape])
    assert (root[a.ANSWER_OUTCOME], root[a.ANSWER_LENGTH]) == ("answered", len("Never."))
    assert (root[a.CITATION_IDS], root[a.CITATION_VALID]) == (("gift", "nowhere-9"), (True, False))


@pytest.mark.parametrize("shape", [lambda call: Verdict(**call), lambda call: AIMessage("", tool_calls=[CALL])])
def test_a_structure_without_an_answers_text_is_no_abstention(shape):
    root = structured({"refund": False, "citations": ["gift"]}, shape)
    assert root[a.ANSWER_OUTCOME] == "answered"
    assert a.ANSWER_LENGTH not in root


CALL = {"name": "reply", "args": {"refund": False}, "id": "1"}


def test_numbers_that_count_in_an_unknown_prompt_are_no_ids():
    """Contracts 7: as ids they would look like fabricated or foreign passages, and fail a release."""
    recorder = Recorder()
    unlike = RunnableLambda(lambda found: "A summary that holds none of the passages.")
    chain = Search(found=passages()) | unlike | Scripted(answers=["Thirty days [2]."]) | StrOutputParser()
    chain.invoke("How long?", recorder.config)
    (path,) = paths_of(recorder.spans)
    assert (path.context, path.citations) == (None, None)
    assert {"context", "citations"} <= set(path.not_captured)
