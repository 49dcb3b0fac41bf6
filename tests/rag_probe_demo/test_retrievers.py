"""The search is deterministic, returns only what is visible, and shortens its list by score."""

from __future__ import annotations

from langchain_core.documents import Document

from rag_probe_demo.corpus import load_passages
from rag_probe_demo.retrievers import Bm25Retriever, Shortlist

PASSAGES = load_passages(["northwind", "halcyon", "shared"])
QUESTION = "How long does VPN access of contractors last?"


def test_the_best_come_first_and_are_the_same_again() -> None:
    search = Bm25Retriever(passages=PASSAGES, k=5)
    found = search.invoke(QUESTION)
    scores = [each.metadata["score"] for each in found]
    assert scores == sorted(scores, reverse=True)
    assert [each.id for each in found[:2]] == ["hc-vpn-r1", "nw-vpn-r1"]
    assert Bm25Retriever(passages=PASSAGES, k=5).invoke(QUESTION) == found


def test_what_is_not_visible_is_never_returned() -> None:
    def visible(passage: Document) -> bool:
        return passage.metadata["tenant"] != "halcyon"

    found = Bm25Retriever(passages=PASSAGES, visible=visible, k=40).invoke(QUESTION)
    assert found
    assert "halcyon" not in {each.metadata["tenant"] for each in found}


def test_no_shared_word_finds_nothing() -> None:
    assert Bm25Retriever(passages=PASSAGES).invoke("zebra") == []
    assert Shortlist(base=Bm25Retriever(passages=PASSAGES), k=3).invoke("zebra") == []


def test_a_short_list_leaves_out_what_scores_far_below_the_best() -> None:
    base = Bm25Retriever(passages=PASSAGES, k=40)
    short = Shortlist(base=base, k=40, floor=0.5).invoke(QUESTION)
    assert short == [
        each for each in base.invoke(QUESTION) if each.metadata["score"] >= 0.5 * short[0].metadata["score"]
    ]
    assert Shortlist(base=base, k=1).invoke(QUESTION) == short[:1]
