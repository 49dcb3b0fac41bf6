"""The parts of a retriever's body, told by who stands around them (issue B: candidates, reranks, what fell out)."""

from __future__ import annotations

import time

from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

from rag_probe import attributes as a
from rag_probe_langchain import runs
from rag_probe_langchain.inside import Ran, compressed, searched

from .apps import passages
from .recorded import Recorder, assert_well_formed

BIG = passages("returns")[0]
PIECES = [
    Document(id=f"piece-{place}", page_content=text, metadata={**BIG.metadata, "parent": "returns"})
    for place, text in enumerate(BIG.page_content.split(", "))
]


class Telling(BaseRetriever):
    """Its body is told of, as an instrumentor does it."""

    def _get_relevant_documents(self, query, *, run_manager):
        run = runs.OPEN[run_manager.run_id.int]
        now = time.time_ns()
        with run.request.lock:
            return self.body(run, Ran("part", now, now), query)

    def body(self, run, part, query):
        raise NotImplementedError


class Reranking(Telling):
    def body(self, run, part, query):
        hits = passages("returns", "sale", "old")
        searched(run, part, query, hits)
        best = [
            Document(each.page_content, metadata={**each.metadata, "relevance_score": score})
            for each, score in ((hits[1], 0.9), (hits[0], 0.7))
        ]
        compressed(run, part, hits, best)
        return best


class Cutting(Telling):
    def body(self, run, part, query):
        hits = passages("returns", "sale", "old")
        searched(run, part, query, hits)
        compressed(run, part, hits, hits[:2])
        return hits[:2]


class Parents(Telling):
    def body(self, run, part, query):
        searched(run, part, query, PIECES, [BIG])
        return [BIG]


def test_a_search_and_a_reranker_are_stages_of_the_retrieval_and_not_inferred_again():
    recorder = Recorder()
    Reranking().invoke("q", recorder.config)
    assert recorder.names() == ["retrieval", "  retrieval", "  rag.rerank part"]
    outer = next(span for span in recorder.named("retrieval") if span.parent is None).attributes
    assert outer[a.RETRIEVAL_CANDIDATES] == ("returns", "sale", "old")
    assert outer[a.RETRIEVAL_IDS] == ("sale", "returns")
    assert recorder.one("rag.rerank")[a.RERANK_SCORES] == (0.9, 0.7)
    assert_well_formed(recorder.spans)


def test_a_compressor_that_leaves_some_out_is_a_filter():
    recorder = Recorder()
    Cutting().invoke("q", recorder.config)
    assert recorder.names() == ["retrieval", "  retrieval", "  rag.filter part"]
    assert recorder.one("rag.filter")[a.FILTER_DROPPED] == ("old",)


def test_hits_keep_the_passages_that_were_looked_up_for_them():
    recorder = Recorder()
    Parents().invoke("q", recorder.config)
    inner = next(span for span in recorder.named("retrieval") if span.parent is not None).attributes
    assert inner[a.RETRIEVAL_PARENTS] == ("returns",) * len(PIECES)
    assert_well_formed(recorder.spans)
