"""What a path lacks is named by its fields, whoever built it (contracts 2)."""

from __future__ import annotations

from rag_probe.gaps import gaps
from rag_probe.path import EvidencePath, Step
from rag_probe.stages import Answer, Chunks, Content, ContextAssembly, Generation, Retrieval


def test_a_path_of_nothing_names_all_of_it():
    assert list(gaps(EvidencePath(path_id="", trace_id=""))) == [
        "question",
        *("retrievals", "retrieved", "reranked", "filtered", "permissions", "context", "budget"),
        *("answer", "citations", "generations", "tools", "nodes", "latency_ms", "cost_usd", "answer.outcome"),
    ]


def test_what_is_known_to_be_empty_is_no_gap():
    path = EvidencePath(path_id="", trace_id="", reranked=(), permissions=(), generations=(), tools=(), nodes=())
    assert not {"reranked", "permissions", "generations", "tools", "nodes"} & set(gaps(path))


def test_a_text_that_was_held_back_and_a_list_that_was_cut_are_gaps():
    path = EvidencePath(
        path_id="",
        trace_id="",
        question=Content(length=3),
        answer=Answer(outcome="answered", content=Content(length=3)),
        retrievals=(Step(Retrieval(documents=Chunks(ids=("a",), count=2))), Step(Retrieval(), error="TimeoutError")),
        generations=(Step(Generation(input_tokens=1)),),
        context=ContextAssembly(ids=("a",), count=2),
    )
    found = set(gaps(path))
    assert {"question", "answer.text", "retrieved", "retrievals.documents", "context"} <= found
    assert {"generations.output_tokens", "generations.context", "generations.cost_usd"} <= found
    assert not {"answer.outcome", "generations.input_tokens", "retrievals.candidates"} & found
