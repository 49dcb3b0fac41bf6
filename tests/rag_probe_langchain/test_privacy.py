"""With content off, no text of the app's leaves: not in any byte that is exported, nor in the log."""

from __future__ import annotations

import json

import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from langchain_core.tools import tool
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans

from rag_probe import attributes as a
from rag_probe import faults, stage, tell
from rag_probe.policy import CapturePolicy
from rag_probe_langchain.reading.messages import output_messages

from .apps import PROMPT, Scripted, Search, as_text, rag
from .recorded import Recorder
from .test_canary import SHAPES

CANARY = "Xyzzy-Canary-4711"
FOUND = [
    Document(id="one", page_content=f"{CANARY} is thirty days after delivery, unused.", metadata={"note": CANARY}),
    Document(page_content=f"Without an id, {CANARY} is what the text of this passage says.", metadata={CANARY: 1}),
    Document(page_content=CANARY, metadata={"author": {"name": CANARY}}),
]


@tool
def look(query: str) -> str:
    """Look it up."""
    return f"{CANARY} {query}"


def everything(found):
    look.invoke({"query": CANARY})
    with stage("permission") as decided:
        decided.allow("one")
        decided.deny("two", f"because of {CANARY}")
    return found


def app():
    answer = AIMessage(f"{CANARY} [1]", response_metadata={"note": CANARY}, additional_kwargs={"x": CANARY})
    return (
        {"context": Search(found=FOUND) | everything | as_text, "question": RunnablePassthrough()}
        | PROMPT
        | Scripted(answers=[answer.text])
        | RunnableLambda(lambda message: {"answer": message.text, "why": CANARY})
    )


def exported(recorder):
    return encode_spans(recorder.spans).SerializeToString()


@pytest.mark.parametrize("key", [None, b"secret"])
def test_no_text_leaves(key, caplog):
    recorder = Recorder(policy=CapturePolicy(digest_key=key))
    app().invoke(f"What is {CANARY}?", {**recorder.config, "metadata": {"note": CANARY}, "tags": [CANARY]})
    assert recorder.one("chat")[a.CONTEXT_IDS]
    assert CANARY.encode() not in exported(recorder)
    assert CANARY not in caplog.text


CITING = {
    "a tag around words": f"<co: {CANARY} is paid for>thirty days</co>",
    "a quotation in structured output": json.dumps({"answer": "thirty days", "citations": [f"{CANARY} is paid for"]}),
}


def cited(policy, answer):
    recorder = Recorder(policy=policy)
    chain = {"context": Search(found=FOUND) | as_text, "question": RunnablePassthrough()} | PROMPT
    (chain | Scripted(answers=[answer])).invoke("How long?", recorder.config)
    return recorder


@pytest.mark.parametrize("shape", CITING)
@pytest.mark.parametrize("key", [None, b"secret"])
def test_a_citation_that_is_text_of_the_answer_is_seen_but_not_read(shape, key):
    """contracts 3: it stays visible as invalid, and its words stay inside."""
    recorder = cited(CapturePolicy(digest_key=key), CITING[shape])
    root = recorder.one("invoke_workflow")
    assert list(root[a.CITATION_VALID]) == [False]
    assert root[a.CITATION_IDS][0].startswith("text:")
    assert CANARY.encode() not in exported(recorder)


AROUND = {
    "a title behind the number": f"Thirty days [Source 1: {CANARY}].",
    "a list": f"Thirty days [Smith {CANARY}; one].",
    "round brackets": f"Thirty days (because of {CANARY}, one).",
    "a dagger": f"Thirty days 【1†{CANARY} handbook】.",
}


@pytest.mark.parametrize("shape", AROUND)
def test_the_words_around_a_citation_stay_inside(shape):
    recorder = cited(CapturePolicy(digest_key=b"k"), AROUND[shape])
    root = recorder.one("invoke_workflow")
    assert (list(root[a.CITATION_IDS]), list(root[a.CITATION_VALID])) == (["one"], [True])
    assert CANARY.encode() not in exported(recorder)


def test_the_words_of_a_told_citation_pass_the_same_gate():
    def cite(message):
        tell.citations([("one", f"[{CANARY} says so]", 0, 9), f"as {CANARY} said"])
        return message.text

    recorder = Recorder(policy=CapturePolicy())
    chain = {"context": Search(found=FOUND) | as_text, "question": RunnablePassthrough()} | PROMPT
    (chain | Scripted(answers=["Thirty days."]) | cite).invoke("How long?", recorder.config)
    assert recorder.one("invoke_workflow")[a.CITATION_IDS] == ("one", "text:held-back")
    assert CANARY.encode() not in exported(recorder)


@pytest.mark.parametrize("redact", [lambda text: "*", lambda text: 1 / 0])
def test_what_is_redacted_is_not_hashed_in_the_clear(redact):
    """A short text can be guessed from its hash: only a text that leaves as it is has one without a key."""
    recorder = Recorder(policy=CapturePolicy(content=True, redact=redact))
    short = Search(found=[Document(page_content="PIN 4711")])
    chain = {"context": short | as_text, "question": RunnablePassthrough()} | PROMPT
    (chain | Scripted(answers=["It is 4711."])).invoke("What is the PIN?", recorder.config)
    assert not [name for span in recorder.spans for name in span.attributes if name.endswith("digest")]
    assert recorder.one("retrieval")[a.RETRIEVAL_ID_RULES] == ("position",)


@pytest.mark.parametrize("shape", CITING)
def test_with_content_on_it_can_be_read(shape):
    root = cited(CapturePolicy(content=True), CITING[shape]).one("invoke_workflow")
    assert root[a.CITATION_IDS][0] == f"{CANARY} is paid for"


@pytest.mark.parametrize("where", ["retrieval", "model", "step", "tool"])
def test_no_message_of_an_exception_leaves(where):
    recorder = Recorder(policy=CapturePolicy())
    error = ConnectionError(CANARY)

    def fail(found):
        raise error

    chain = {
        "retrieval": lambda: rag(Search(found=[], error=error)),
        "model": lambda: rag(model=Scripted(answers=[error])),
        "step": lambda: rag(steps=RunnableLambda(fail).with_config(metadata={"rag.stage": "filter"})),
        "tool": lambda: rag(
            steps=RunnableLambda(lambda found: tool("broken", description="d")(fail).invoke({"found": 1}))
        ),
    }[where]()
    with pytest.raises(ConnectionError):
        chain.invoke("?", recorder.config)
    assert b"ConnectionError" in exported(recorder)
    assert CANARY.encode() not in exported(recorder)


def test_short_texts_without_a_key_are_not_even_hashed():
    recorder = Recorder(policy=CapturePolicy())
    Search(found=FOUND).invoke("?", recorder.config)
    retrieval = recorder.one("retrieval")
    assert retrieval[a.RETRIEVAL_ID_RULES] == ("id", "content", "position")
    assert retrieval[a.RETRIEVAL_IDS][2] == "#3"
    assert a.RETRIEVAL_QUERY_DIGEST not in retrieval


def test_with_a_key_texts_leave_as_digests():
    recorder = Recorder(policy=CapturePolicy(digest_key=b"k"))
    app().invoke("?", recorder.config)
    assert len(recorder.one("invoke_workflow")[a.QUESTION_DIGEST]) == 64
    assert recorder.one("chat")[a.OUTPUT_DIGEST] == recorder.one("invoke_workflow")[a.ANSWER_DIGEST]


def test_with_content_on_the_texts_leave_in_the_conventions_shape():
    recorder = Recorder(policy=CapturePolicy(content=True))
    rag().invoke("How long do I have?", recorder.config)
    root, retrieval, call = (recorder.one(name) for name in ("invoke_workflow", "retrieval", "chat"))
    assert root[a.QUESTION_TEXT] == retrieval[a.RETRIEVAL_QUERY_TEXT] == "How long do I have?"
    assert root[a.ANSWER_TEXT] == "Thirty days, but fourteen in the sale [2]."
    assert len(retrieval[a.RETRIEVAL_TEXTS]) == 5
    given = json.loads(call[a.INPUT_MESSAGES])
    assert [message["role"] for message in given] == ["system", "user"]
    assert given[1]["parts"] == [{"type": "text", "content": "How long do I have?"}]
    assert json.loads(call[a.OUTPUT_MESSAGES]) == [
        {
            "role": "assistant",
            "parts": [{"type": "text", "content": "Thirty days, but fourteen in the sale [2]."}],
            "finish_reason": "stop",
        }
    ]


def test_long_content_is_cut_and_its_json_stays_whole():
    recorder = Recorder(policy=CapturePolicy(content=True, max_characters=50))
    rag().invoke("How long do I have? " * 100, recorder.config)
    call = recorder.one("chat")
    given = json.loads(call[a.INPUT_MESSAGES])
    assert all(len(part["content"]) <= 50 for message in given for part in message["parts"])
    assert call[a.PROMPT_LENGTH] > 2000


def test_a_redactor_sees_every_text_that_leaves():
    recorder = Recorder(policy=CapturePolicy(content=True, redact=lambda text: text.replace(CANARY, "***")))
    app().invoke(f"What is {CANARY}?", recorder.config)
    assert CANARY.encode() not in exported(recorder)
    assert recorder.one("invoke_workflow")[a.QUESTION_TEXT] == "What is ***?"


def test_a_document_with_odd_metadata_harms_nothing():
    odd = Document(
        id="odd",
        page_content="Lone surrogate \ud800 and a NaN score in the metadata.",
        metadata={"score": float("nan"), "revision": b"\xff", "tenant": ["a"], "document": None, "when": object()},
    )
    recorder = Recorder(policy=CapturePolicy(content=True))
    rag(Search(found=[odd]), steps=RunnablePassthrough()).invoke("?", recorder.config)
    assert exported(recorder)
    assert recorder.one("chat")[a.CONTEXT_IDS] == ("odd",)


def test_a_redactor_sees_the_arguments_of_tools_as_they_are_read():
    """Not their escapes: `Zo\\u00eb` would pass a redactor that looks for Zoë."""
    call = {"name": "look", "args": {"who": "Zoë"}, "id": "1", "type": "tool_call"}
    policy = CapturePolicy(content=True, redact=lambda text: text.replace("Zoë", "*"))
    said = output_messages(AIMessage("", tool_calls=[call]), "", policy)
    assert json.loads(json.loads(said)[0]["parts"][0]["arguments"]) == {"who": "*"}


def test_with_content_on_each_text_passes_the_redactor(monkeypatch):
    """The same shapes as the canary's: chain, graph, agent, errors, streams, what the app tells."""
    monkeypatch.setattr(faults, "_said", {})
    recorder = Recorder(policy=CapturePolicy(content=True, redact=lambda text: text.replace("Xyzzy", "***")))
    for shape in SHAPES:
        if shape.__name__ != "outside_of_any_framework":  # there the environment's policy holds
            shape(recorder.handler)
    assert b"***" in exported(recorder)
    assert b"Xyzzy" not in exported(recorder)


def test_no_name_makes_an_exporter_drop_a_batch():
    """must-handle 18: one lone surrogate makes protobuf refuse a string, and the batch around it is lost."""

    class OddError(Exception):
        pass

    OddError.__qualname__ = "Odd\ud800"

    def fail(found):
        with stage("filter", step="filter \ud800") as s:
            s.drop("one \ud800", "reason \ud800")
        raise OddError

    recorder = Recorder(policy=CapturePolicy(content=True))
    found = Search(found=FOUND) | RunnableLambda(everything).with_config(run_name="step \ud800")
    with pytest.raises(OddError):
        (found | fail).invoke("\ud800", {**recorder.config, "run_name": "desk \ud800"})
    assert exported(recorder)
    assert recorder.one("invoke_workflow")[a.AGENT_NAME] == "desk \ufffd"
