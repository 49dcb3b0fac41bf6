"""The quick look at an answer finds what the thorough one finds, or nothing at all (issue B, speed)."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rag_probe.pointers import admitted
from rag_probe.policy import CapturePolicy
from rag_probe_langchain.citing.citations import find_citations
from rag_probe_langchain.citing.usual import usual_citations

CONTEXT = ("doc-7", "doc-12", "1234", "^note", " padded ", "gift")

PLAIN = ("Thirty days", " ", " ", ".", ",", "\n", "[1]", "[1]", "[2]", "[doc-7]", "[1234]", "[gift]")
NONE = ("[9]", "[0]", "[01]", "٣", "[٣]")
ODD = (
    "[DOC-7]",
    "[^note]",
    "[gift ]",
    "[sic]",
    "[ padded ]",
    "[padded]",
    "[1, 2]",
    "(doc-7)",
    "(a",
    "a)",
    "[1](http://x)",
    "[[1]]",
)
SIGNS = ("【1†a】", "<co: 1>", "<CO:1>", "`[1]`", "~~~", "{", "[", "]", "x[1]", "!", "\\")
pieces = st.sampled_from(PLAIN + NONE + ODD + SIGNS)


@settings(max_examples=500)
@given(st.lists(pieces, max_size=8).map("".join), st.sampled_from([CONTEXT, CONTEXT[:1], ("2", "1")]))
@example("Thirty days [1], for gifts [gift] too.", CONTEXT)
def test_it_says_what_the_thorough_look_says_or_nothing(text, context):
    found = usual_citations(text, context)
    if found is None:
        return
    thorough = find_citations(text, context, {"doc-99": "elsewhere"})
    rows = zip(found.ids, found.markers, found.starts, found.ends, found.valid, strict=True)
    assert list(rows) == [(one.id, one.marker, one.start, one.end, one.valid) for one in thorough]
    assert admitted(found, CapturePolicy()) == found


@pytest.mark.parametrize(
    "text", ["Thirty days [1].", "In the sale [2], for gifts [gift]. Also [1]", "Both say so [1][2].", "So it is.[1]"]
)
def test_the_usual_answer_is_read_at_a_glance(text):
    assert usual_citations(text, CONTEXT) is not None


@pytest.mark.parametrize(
    "text", ["", "No bracket", "[1]", "a [9]", "a [sic]", "a (1) [1]", "`a` [1]", "a [1] [", "{} [1]"]
)
def test_the_rest_is_left_to_the_thorough_look(text):
    assert usual_citations(text, CONTEXT) is None
