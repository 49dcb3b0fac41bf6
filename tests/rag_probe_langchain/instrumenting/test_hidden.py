"""langchain-hooks.md "What callbacks cannot see", seen with the instrumentor: compressors, and searches of a store."""

from __future__ import annotations

import pytest
from langchain_classic.retrievers import ContextualCompressionRetriever
from langchain_core.documents import BaseDocumentCompressor
from langchain_core.runnables import RunnableLambda

from rag_probe import attributes as a
from rag_probe import stage
from tests.rag_probe_langchain.apps import Search, passages
from tests.rag_probe_langchain.recorded import Recorder, assert_well_formed
from tests.scenarios.modes import MODES
from tests.scenarios.retrievers import QUESTION, SHAPES, First, compressed, store

from .instrumented import instrumented, nothing_current

DECISIONS = ("rag.filter", "rag.rerank")
BY = {
    # shape: the stages inside the retrieval, with the step that took them
    "cut": ['rag.filter First | rag.filter.dropped=["gift", "staff", "old"] rag.filter.kept=["returns", "sale"]'],
    "a cross-encoder": ['rag.rerank CrossEncoderReranker | rag.rerank.ids=["gift", "staff", "sale"]'],
    "a model that filters": [
        'rag.filter LLMChainFilter | rag.filter.dropped=["sale", "staff", "old"] rag.filter.kept=["returns", "gift"]'
    ],
    "a model that extracts": [
        'rag.filter LLMChainExtractor | rag.filter.dropped=["sale", "staff", "old"] rag.filter.kept=["returns", "gift"]'
    ],
    "a pipeline": [
        'rag.rerank Reversing | rag.rerank.ids=["old", "old", "staff", "gift", "gift", "sale", "returns", "returns"]',
        'rag.filter First | rag.filter.dropped=["gift", "sale", "returns"] rag.filter.kept=["old", "old", "staff"]',
    ],
}
SCORED = {
    "a reranker that scores": "Scoring",
    "a reranker that numbers": "Numbering",
    "a compressed ensemble": "Scoring",
}


def decisions(recorder):
    return [line.strip() for line in recorder.lines(*DECISIONS) if line.strip().startswith(DECISIONS)]


def candidates(recorder):
    return {each for span in recorder.named("retrieval") for each in span.attributes.get(a.RETRIEVAL_CANDIDATES, ())}


@pytest.mark.parametrize("mode", ["invoke", "ainvoke", "batch"])
@pytest.mark.parametrize("shape", BY)
def test_what_a_compressor_did_is_a_stage_of_its_own(shape, mode):
    with instrumented() as recorder, nothing_current():
        MODES[mode](SHAPES[shape](), QUESTION, {})
    assert decisions(recorder) == BY[shape]
    assert_well_formed(recorder.spans)


@pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
@pytest.mark.parametrize("shape", SCORED)
def test_a_reranking_that_callbacks_show_too_is_recorded_once(shape, mode):
    with instrumented() as recorder:
        MODES[mode](SHAPES[shape](), QUESTION, {})
    (rerank,) = recorder.named("rag.rerank")
    assert rerank.name == f"rag.rerank {SCORED[shape]}"
    assert len(rerank.attributes[a.RERANK_SCORES]) == len(rerank.attributes[a.RERANK_IDS])


@pytest.mark.parametrize("shape", SHAPES)
def test_everything_else_is_recorded_as_without_it(shape):
    """Same retrievals, same passages, same parents; candidates may be more, since a store's hits are seen."""
    wanted = ("rag.retrieval.ids", "rag.retrieval.parents", "rag.retrieval.scores", "gen_ai.operation")
    plain = Recorder()
    SHAPES[shape]().invoke(QUESTION, plain.config)
    with instrumented() as recorder:
        SHAPES[shape]().invoke(QUESTION)

    def seen(recorded):
        return [line for line in recorded.lines(*wanted) if not line.strip().startswith(DECISIONS)]

    assert seen(recorder) == seen(plain)
    before, now = candidates(plain), candidates(recorder)
    assert before <= now


@pytest.mark.parametrize("shape", ["parents", "summaries"])
@pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
def test_what_a_store_found_is_the_candidates_of_that_retrieval(shape, mode):
    with instrumented() as recorder:
        MODES[mode](SHAPES[shape](), QUESTION, {})
    (retrieval,) = recorder.named("retrieval")
    assert len(retrieval.attributes[a.RETRIEVAL_CANDIDATES]) == 3
    assert set(retrieval.attributes[a.RETRIEVAL_CANDIDATES]).isdisjoint(retrieval.attributes[a.RETRIEVAL_IDS])


@pytest.mark.parametrize("kind", ["similarity", "mmr"])
@pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
def test_hits_that_are_the_result_are_no_candidates(kind, mode):
    with instrumented() as recorder:
        MODES[mode](store().as_retriever(search_type=kind, search_kwargs={"k": 2}), QUESTION, {})
    (retrieval,) = recorder.named("retrieval")
    assert len(retrieval.attributes[a.RETRIEVAL_IDS]) == 2
    assert a.RETRIEVAL_CANDIDATES not in retrieval.attributes


def test_scores_that_only_the_store_knows_are_the_retrieval_s():
    class Dropping(Search):
        def _get_relevant_documents(self, query, *, run_manager):
            return [found for found, _ in filled.similarity_search_with_score(query, k=3)]

    filled = store()
    for each in filled.store.values():
        del each["metadata"]["score"]
    with instrumented() as recorder:
        Dropping(found=[]).invoke(QUESTION)
    (retrieval,) = recorder.named("retrieval")
    scores = retrieval.attributes[a.RETRIEVAL_SCORES]
    assert list(scores) == sorted(scores, reverse=True)
    assert len(scores) == 3


def test_outside_of_retrievers_nothing_changes():
    """A compressor in a step is that step's doing, which its input and output show."""
    with instrumented() as recorder:
        steps = Search(found=passages()) | RunnableLambda(lambda found: First().compress_documents(found, QUESTION))
        steps.invoke(QUESTION)
        store().similarity_search(QUESTION)
        First().compress_documents(passages(), QUESTION)
    assert len(recorder.named("rag.filter")) == 1
    assert len(recorder.named("retrieval")) == 1


def test_a_compressor_that_tells_is_not_told_of_again():
    class Checking(BaseDocumentCompressor):
        def compress_documents(self, documents, query, callbacks=None):
            with stage("permission", "check", policy="v7") as check:
                for each in documents:
                    check.deny(each, "foreign_tenant") if each.id == "staff" else check.allow(each)
            return [each for each in documents if each.id != "staff"]

    with instrumented() as recorder:
        compressed(Checking()).invoke(QUESTION)
    assert [line.strip() for line in recorder.names()] == ["retrieval", "retrieval", "rag.permission check"]


def test_a_compressor_that_fails_fails_as_it_did():
    class Failing(BaseDocumentCompressor):
        def compress_documents(self, documents, query, callbacks=None):
            raise ConnectionError

    with instrumented() as recorder, nothing_current(), pytest.raises(ConnectionError):
        compressed(Failing()).invoke(QUESTION)
    assert decisions(recorder) == []
    assert_well_formed(recorder.spans)


@pytest.mark.parametrize("returned", [None, 7, ["text"], {"documents": []}], ids=repr)
def test_a_compressor_that_returns_something_else_is_let_be(returned, caplog):
    class Odd(BaseDocumentCompressor):
        def compress_documents(self, documents, query, callbacks=None):
            return returned

    class Asking(ContextualCompressionRetriever):
        def _get_relevant_documents(self, query, *, run_manager):
            self.base_compressor.compress_documents(passages(), query)
            return []

    with instrumented() as recorder:
        Asking(base_compressor=Odd(), base_retriever=Search(found=[])).invoke(QUESTION)
    assert [name for name in recorder.names() if "rerank" in name] == []
    assert not caplog.records
