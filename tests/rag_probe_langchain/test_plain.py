"""The usual list, recognised at a glance, says what a look at each passage says (issue B, speed)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.documents import Document

from rag_probe.policy import CapturePolicy
from rag_probe.stages import Chunks, Content, Retrieval
from rag_probe.wire.retrieval import encode_plain, encode_retrieval
from rag_probe_langchain.documents import Documents
from rag_probe_langchain.identity import identify
from rag_probe_langchain.plain import plain
from rag_probe_langchain.rows import rows_of

words = st.text("ab", min_size=1, max_size=3)
USUAL = {
    "source": words,
    "document_id": words,
    "tenant": words,
    "revision": st.integers(-3, 3),
    "score": st.floats(0, 1),
    "page": st.integers(),
}
odd = st.sampled_from(
    [None, "", "é", "\udc00", "x" * 300, True, 2**70, 10**5000, float("nan"), float("inf"), 1e308, b"x"]
)
usual = st.lists(st.sampled_from(sorted(USUAL)), unique=True).flatmap(
    lambda keys: st.lists(st.tuples(words, st.fixed_dictionaries({key: USUAL[key] for key in keys})), max_size=4)
)
unusual = st.lists(st.tuples(words | odd, st.dictionaries(st.sampled_from(sorted(USUAL)), words | odd)), max_size=4)
policies = st.sampled_from([CapturePolicy(), CapturePolicy(tenant_keys=["tenant"]), CapturePolicy(score_keys=())])


def passages(rows):
    return [Document.model_construct(id=name, page_content="text", metadata=metadata) for name, metadata in rows]


def state(documents):
    held, scores = {"_alive", "_lists", "scores"}, documents.scores
    said = {name: getattr(documents, name) for name in Documents.__slots__ if name not in held}
    return said | {name: getattr(scores, name) for name in scores.__slots__}


@given(usual | unusual, policies)
def test_at_a_glance_or_one_by_one_the_columns_are_the_same(rows, policy):
    at_a_glance, one_by_one = plain(rows_of(passages(rows)), policy), identify(passages(rows), policy, 0)
    if at_a_glance is not None:
        assert repr(Chunks(**at_a_glance._asdict())) == repr(one_by_one)


@given(usual | unusual, policies, st.integers(0, 2))
def test_a_usual_list_is_remembered_and_written_as_any_other(rows, policy, before):
    """`before`: how many of the passages were seen in an earlier list."""
    found, (one, other) = passages(rows), (Documents(policy), Documents(policy))
    for documents in (one, other):
        documents.add(found[:before])
    columns = one.add_plain(found)
    if columns is None:
        assert state(one) == state(other)
        return
    chunks, query = other.add(found), Content(length=3)
    assert state(one) == state(other)
    assert one.before(found) == other.before(found) == columns.ids
    assert encode_plain("search", query, None, columns) == encode_retrieval(
        Retrieval(name="search", query=query, documents=chunks), len(found)
    )


@given(usual.filter(bool))
def test_a_stores_list_is_usual(rows):
    assert plain(rows_of(passages(rows)), CapturePolicy()) is not None


@pytest.mark.parametrize("odd", [{"id": None}, {"id": 7}, {"id": ""}, {"id": "é"}, {"page_content": None}], ids=str)
def test_where_one_passage_is_odd_each_is_looked_at(odd):
    fields = {"id": "b", "page_content": "text", "metadata": {}}
    found = [Document(id="a", page_content="text"), Document.model_construct(**{**fields, **odd})]
    is_plain = plain(rows_of(found), CapturePolicy()) is not None
    assert is_plain == ("page_content" in odd)  # which is repaired before
