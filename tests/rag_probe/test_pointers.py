"""A citation leaves as a pointer; the words of the answer in it stay inside with content off."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_probe.pointers import admitted
from rag_probe.policy import CapturePolicy
from rag_probe.stages import Citations

OFF = CapturePolicy()


def sent(ids, markers, policy=OFF, known=(), valid=()):
    citations = admitted(Citations(ids=ids, markers=markers, valid=valid), policy, known)
    return citations.ids, citations.markers


@pytest.mark.parametrize(
    ("name", "marker"),
    [
        ("doc-7", "[2]"),
        ("doc-7", "[1, 2]"),
        ("doc-7", "[1-3]"),
        ("doc-7", "[doc-7]"),
        ("doc-7", "[Doc-7]"),
        ("doc-7", "(see doc-7)"),
        ("doc-7", "[Source 2]"),
        ("doc-7", "[doc: doc-7]"),
        ("doc-7", "<co: 1>"),
        ("doc-7", "\u30101\u2020source\u3011"),
        ("doc-7", "\u3010doc-7\u2020source\u3011"),
        ("doc-7", "char_location"),
        ("nowhere-9", "[nowhere-9]"),
        ("notes/a b.md", "[notes/a b.md]"),
    ],
)
def test_a_marker_that_only_points_leaves(name, marker):
    assert sent((name,), (marker,), known=("notes/a b.md",)) == ((name,), (marker,))


@pytest.mark.parametrize(
    "marker",
    [
        "[Source 2: The secret handbook]",
        "(because of his illness, doc-7)",
        "[see his illness, doc-7]",
        "[Smith; doc-7]",
        "\u30101\u2020secret plan\u3011",
        "(doc-7, 4111 1111 1111 1111)",
        "two words",
    ],
)
def test_a_marker_around_words_leaves_as_text_does(marker):
    assert sent(("doc-7",), (marker,), valid=(True,)) == (("doc-7",), (None,))
    assert sent(("doc-7",), (marker,), CapturePolicy(content=True))[1] == (marker,)
    assert sent(("doc-7",), (marker,), CapturePolicy(content=True, redact=lambda text: "*"))[1] == ("*",)


def test_words_in_the_place_of_an_id_are_held_back():
    assert sent(("he was ill", "doc-7"), ()) == (("text:held-back", "doc-7"), ())
    keyed = CapturePolicy(digest_key=b"k")
    (one, other, same), _ = sent(("he was ill", "x" * 101, "he was ill"), (), keyed)
    assert one == same != other
    assert one.startswith("text:")


def test_an_id_that_is_known_is_one_whatever_it_looks_like():
    assert sent(("leave handbook",), ("[leave handbook]",), known={"leave handbook": ""})[0] == ("leave handbook",)
    assert sent(("leave handbook",), ("[leave handbook]",), valid=(True,)) == (
        ("leave handbook",),
        ("[leave handbook]",),
    )


WORDS = st.lists(st.text("abcdefghij\u00e9", min_size=4, max_size=9), min_size=1, max_size=4).map(" ".join)


@given(WORDS, st.sampled_from(["[{}]", "({})", "<co: {}>", "\u3010{}\u2020source\u3011", "{}, 1", "[doc-7, {}]"]))
def test_no_word_of_a_marker_leaves(words, around):
    marker = around.format(words)
    ids, markers = sent(("doc-7", "doc-8"), (marker, "[1]"))
    assert ids == ("doc-7", "doc-8")
    assert markers == (None, "[1]")
