"""What a tool quotes of its passages is read back (issue B: agents by the callback alone)."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.documents import Document

from rag_probe_langchain.reading.document_reprs import documents_in

plain = st.one_of(st.text(), st.integers(), st.booleans(), st.floats(allow_nan=False, allow_infinity=False))
passages = st.builds(
    Document,
    page_content=st.text(),
    id=st.none() | st.text(min_size=1),
    metadata=st.dictionaries(st.text(), plain, max_size=4),
)


@given(st.lists(passages, max_size=4))
def test_a_list_that_was_written_is_read_back(found):
    assert documents_in(str(found)) == found


@given(st.lists(passages, min_size=1, max_size=3))
def test_wherever_it_stands_in_a_value(found):
    assert documents_in(str({"found": found, "more": [(each, 0.5) for each in found]})) == [*found, *found]


def test_what_is_no_plain_value_is_left_out_of_the_metadata():
    found = [Document("text", metadata={"at": datetime(2026, 1, 1, tzinfo=UTC), "source": "a.md"})]
    assert documents_in(str(found)) == [Document("text", metadata={"source": "a.md"})]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "It is Monday.",
        "Document(s) were not found",
        "[Document(page_content=",
        "[Document(page_content=open('/etc/passwd'))]",
        "[Document(1, 2)]",
        "[" * 100_000 + "Document(",
        "[Document(" + "-" * 100_000 + "1)]",
        "[\"the Document(page_content='x') of a talk\"]",
    ],
)
def test_other_texts_hold_none(text):
    assert documents_in(text) == []
