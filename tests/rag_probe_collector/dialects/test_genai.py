"""The official conventions, on what the official LangChain instrumentation wrote for one known app."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rag_probe.protocols import Selection
from rag_probe.stages import Chunks, Content
from rag_probe_collector.dialects.genai_content import documents_in, last_text, question_in
from rag_probe_collector.sources import open_source
from tests.rag_probe_collector.spans import S, path_of

PEERS = Path(os.environ.get("RAG_PROBE_SHARED", "../shared")) / "data" / "peers"
DOCUMENTS = tuple(f"doc-{number}" for number in range(1, 6))
ASKED = "How long do refunds take?"


def recorded(scenario: str):
    path = PEERS / f"otel__{scenario}.otlp.jsonl.gz"
    if not path.exists():
        pytest.skip(f"no {path}")
    return list(open_source(str(path)).paths(Selection()))


@pytest.mark.parametrize("scenario", ["rag", "rag_stream", "langgraph"])
def test_what_the_conventions_record(scenario):
    (path,) = recorded(scenario)
    assert (path.source, path.service) == ("genai", "rag-demo")
    streamed = scenario == "rag_stream"  # its root's input is recorded as blank
    assert path.question == (None if streamed else Content(length=len(ASKED), text=ASKED))
    assert path.retrieved.ids == DOCUMENTS
    assert path.retrieved.scores == (0.97, 0.82, 0.67, 0.52, 0.37)
    (call,) = path.generations
    assert (call.stage.input_tokens, call.stage.output_tokens, call.stage.cached_tokens) == (563, 24, 12)
    assert path.answer.content.text.startswith("Refunds are paid within 3 business days [doc-1]")
    assert {"answer.outcome", "answer.text"} <= set(path.inferred)


def test_what_they_lack_is_not_captured():
    (path,) = recorded("rag")
    assert {"filtered", "permissions", "context", "citations", "nodes"} <= set(path.not_captured)
    assert (path.filtered, path.permissions, path.context, path.citations, path.nodes) == (None,) * 5


def test_three_questions_are_three_paths():
    assert [path.question.text for path in recorded("rag_batch")] == ["Q0?", "Q1?", "Q2?"]


def test_an_agent_whose_tool_retrieves():
    (path,) = recorded("agent_artifact")
    assert path.retrieved.ids == DOCUMENTS[:3]
    assert [step.stage.name for step in path.tools] == ["search_kb"]
    assert [step.stage.input_tokens for step in path.generations] == [6, 541]
    assert path.answer_generation == 1


def test_a_retriever_that_failed_is_a_path():
    """Must-handle 20."""
    (path,) = recorded("retriever_error")
    assert path.error is not None
    assert path.answer.outcome == "error"
    assert path.retrieved is None  # nothing was observed: contracts 1 allows an empty list only without an error
    assert "retrieved" in path.not_captured


def test_a_call_that_two_libraries_recorded_counts_once():
    """Must-handle 11."""

    def chat(number, parent, scope):
        used = {"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": 100, "gen_ai.usage.output_tokens": 1}
        return S(number, parent, number, attributes=used, scope=scope)

    workflow = S(1, attributes={"gen_ai.operation.name": "invoke_workflow"}, took=99, scope="langchain")
    path = path_of(workflow, chat(2, 1, "langchain"), chat(3, 2, "openai"))
    assert [step.stage.input_tokens for step in path.generations] == [100]


def test_what_nobody_wrote_is_not_captured():
    """OpenLLMetry writes these names for workflows and calls, and others for retrievals: null is not zero."""
    path = path_of(S(1, attributes={"gen_ai.operation.name": "invoke_workflow"}, scope="x"))
    assert (path.retrievals, path.retrieved, path.generations, path.tools) == (None,) * 4
    assert {"retrievals", "retrieved", "generations", "tools"} <= set(path.not_captured)


def test_older_names_are_read():
    older = {"gen_ai.operation.name": "chat", "gen_ai.system": "openai", "gen_ai.usage.prompt_tokens": 3}
    (call,) = path_of(S(1, attributes=older, scope="x")).generations
    assert (call.stage.provider, call.stage.input_tokens) == ("openai", 3)
    asked = {"gen_ai.operation.name": "retrieval", "gen_ai.request.top_k": 4}
    assert path_of(S(1, attributes=asked, scope="x")).retrievals[0].stage.top_k == 4


def test_documents_without_an_id_are_not_captured():
    assert documents_in('[{"id": "a", "score": 1}, {"id": 7}]') == Chunks(ids=("a", "7"), scores=(1.0, None))
    assert documents_in("[]") == Chunks()
    for malformed in ('[{"id": "a"}, {"score": 1}]', '[{"id": "a"}, "b"]', '{"id": "a"}', "[", None):
        assert documents_in(malformed) is None


def test_messages():
    messages = '[{"role":"user","parts":[{"type":"text","content":"a"},{"type":"x"},{"type":"text","content":"b"}]}]'
    assert last_text(messages, "user") == "ab"
    assert last_text(messages, "assistant") is None
    wrapped = '[{"role":"user","parts":[{"type":"text","content":"{\\"query\\": \\"why\\"}"}]}]'
    assert question_in(wrapped) == "why"
