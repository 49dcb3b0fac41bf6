"""Which passage it is, by which rule, in which revision, for which tenant: up to the span (issue B, checklist 93)."""

from __future__ import annotations

import pytest
from langchain_core.documents import Document

from rag_probe import attributes as a
from rag_probe.policy import CapturePolicy
from tests.rag_probe_langchain.apps import Search
from tests.rag_probe_langchain.recorded import Recorder

TEXT = "Goods can be sent back within thirty days of delivery, unused."
CHAIN = [
    ({"id": "own", "metadata": {"id": "m", "source": "a.md", "start_index": 3}}, "own", "id"),
    ({"metadata": {"chunk_id": "c", "source": "a.md", "start_index": 3}}, "c", "metadata"),
    ({"metadata": {"source": "a.md", "start_index": 3}}, "a.md#3", "source"),
    ({"metadata": {"source": "a.md"}}, None, "content"),
    ({"metadata": {}, "page_content": "Short."}, "#1", "position"),
]


def recorded(*documents, **policy):
    recorder = Recorder(policy=CapturePolicy(**policy))
    Search(found=list(documents)).invoke("q", recorder.config)
    return recorder.one("retrieval")


@pytest.mark.parametrize(("fields", "name", "rule"), CHAIN)
def test_the_rule_that_gave_the_id_is_recorded(fields, name, rule):
    said = recorded(Document(**{"page_content": TEXT, **fields}))
    assert name is None or said[a.RETRIEVAL_IDS] == (name,)
    assert said.get(a.RETRIEVAL_ID_RULES, ("id",)) == (rule,)


def test_a_content_id_is_the_same_in_every_process_and_keyed_where_there_is_a_key():
    same = [recorded(Document(page_content=TEXT))[a.RETRIEVAL_IDS] for _ in range(2)]
    keyed = recorded(Document(page_content=TEXT), digest_key=b"k")[a.RETRIEVAL_IDS]
    assert same[0] == same[1] != keyed


def test_the_keys_are_the_apps():
    document = Document(
        page_content=TEXT,
        metadata={"uid": 7, "etag": "e-3", "customer": "acme", "file": "a.pdf", "rank_score": 0.5, "id": "other"},
    )
    said = recorded(
        document,
        id_keys=("uid",),
        revision_keys=("etag",),
        tenant_keys=("customer",),
        document_keys=("file",),
        score_keys=("rank_score",),
    )
    assert said[a.RETRIEVAL_IDS] == ("7",)
    assert said[a.RETRIEVAL_REVISIONS] == ("e-3",)
    assert said[a.RETRIEVAL_TENANTS] == ("acme",)
    assert said[a.RETRIEVAL_DOCUMENTS] == ("a.pdf",)
    assert said[a.RETRIEVAL_SCORES] == (0.5,)


def test_what_some_passages_have_has_its_places():
    said = recorded(
        Document(id="a", page_content=TEXT),
        Document(id="b", page_content=TEXT, metadata={"revision": "2", "tenant": "x"}),
    )
    assert (said[a.RETRIEVAL_REVISIONS], said[a.RETRIEVAL_REVISIONS + "_at"]) == (("2",), (1,))
    assert (said[a.RETRIEVAL_TENANTS], said[a.RETRIEVAL_TENANTS + "_at"]) == (("x",), (1,))
