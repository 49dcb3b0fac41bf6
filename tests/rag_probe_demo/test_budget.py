"""Passages are fitted in order, and never take more words than they may."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from langchain_core.documents import Document

from rag_probe_demo.budget import SMALLEST, fit

written = st.lists(st.text(alphabet="ab .\n", max_size=120), max_size=8)


@given(written, st.integers(min_value=0, max_value=80))
def test_beginnings_in_order_within_the_limit(texts: list[str], limit: int) -> None:
    kept = list(fit([Document(id=str(at), page_content=text) for at, text in enumerate(texts)], limit))
    places = [int(each.id or "") for each in kept]
    assert places == sorted(set(places))
    assert all(texts[at].startswith(each.page_content) for at, each in zip(places, kept, strict=True))
    assert sum(_words(each) for each in kept) <= limit


@given(written)
def test_what_fits_stays_whole(texts: list[str]) -> None:
    passages = [Document(page_content=text) for text in texts]
    assert list(fit(passages, sum(_words(each) for each in passages))) == passages


def test_a_passage_of_which_hardly_anything_would_remain_is_left_out() -> None:
    passage = Document(page_content="word " * 20)
    assert [_words(each) for each in fit([passage, passage], 20 + SMALLEST)] == [20, SMALLEST]
    assert [_words(each) for each in fit([passage, passage], 20 + SMALLEST - 1)] == [20]


def _words(passage: Document) -> int:
    return len(passage.page_content.split())
