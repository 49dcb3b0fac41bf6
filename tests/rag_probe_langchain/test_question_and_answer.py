"""The question and the answer of a root, by the rules of contracts 1."""

from __future__ import annotations

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableLambda

from rag_probe import attributes as a
from rag_probe_langchain.question import question_in

from .apps import Scripted, Search, as_text, passages
from .recorded import Recorder

MESSAGES = [HumanMessage("first"), AIMessage("reply"), HumanMessage("last")]


@pytest.mark.parametrize(
    ("inputs", "expected"),
    [
        ("asked", "asked"),
        ({"question": "asked", "query": "no"}, "asked"),
        ({"query": "asked"}, "asked"),
        ({"input": "asked"}, "asked"),
        ({"question": HumanMessage("asked")}, "asked"),
        ({"messages": MESSAGES}, "last"),
        (MESSAGES, "last"),
        ({"messages": [("human", "asked"), ("ai", "reply")]}, "asked"),
        ({"messages": [{"role": "user", "content": "asked"}]}, "asked"),
        ({"text": "no"}, None),
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
