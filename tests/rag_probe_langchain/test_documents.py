"""Which passage a Document is, whatever object stands for it (checklist 20, and the hooks note on `Document.id`)."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from uuid import UUID

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.documents import Document
from langchain_core.messages import AIMessage
from pydantic import BaseModel

from rag_probe.measured import number
from rag_probe.policy import CapturePolicy
from rag_probe.stages import Chunks
from rag_probe_langchain.documents import Documents
from rag_probe_langchain.identity import identify
from rag_probe_langchain.scan import lists_in, snapshot

LONG = "A text that is long enough to be told by its hash alone."
PLAIN, KEYED = CapturePolicy(), CapturePolicy(digest_key=b"k")


def one(policy=PLAIN, **fields):
    (found,) = identify([Document(**{"page_content": LONG, **fields})], policy, 0).ids
    return found


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"id": "own", "metadata": {"id": "other"}}, "own"),
        ({"metadata": {"chunk_id": "c-1"}}, "c-1"),
        ({"metadata": {"_id": 7}}, "7"),
        ({"metadata": {"doc_id": UUID(int=1)}}, str(UUID(int=1))),
        ({"metadata": {"source": "a.md", "start_index": 120}}, "a.md#120"),
        ({"metadata": {"source": "a.md", "chunk_index": 0}}, "a.md#0"),
        ({"id": "x" * 1000}, "x" * 239 + "~44f8354494a5ba03"),
    ],
)
def test_the_chain_of_rules(fields, expected):
    assert one(**fields) == expected


def test_a_source_alone_names_no_passage():
    same = [Document(page_content=LONG + end, metadata={"source": "a.md"}) for end in ("1", "2")]
    chunks = identify(same, PLAIN, 0)
    assert len(set(chunks.ids)) == 2
    assert chunks.id_rules == ("content", "content")


def test_the_hash_is_stable_and_keyed():
    assert one() == one()
    assert one(KEYED) == one(KEYED) != one()


def test_columns_are_read_from_the_policys_keys():
    found = [
        Document(id="a", page_content="", metadata={"source": "a.md", "revision": 2, "tenant": "x", "score": 0.5}),
        Document(id="b", page_content="", metadata={"document_id": "b", "version": "3", "relevance_score": 1}),
    ]
    assert identify(found, PLAIN, 0) == Chunks(
        ids=("a", "b"),
        documents=("a.md", "b"),
        revisions=("2", "3"),
        tenants=("x", None),
        scores=(0.5, 1.0),
    )


@given(
    st.lists(
        st.dictionaries(
            st.sampled_from(["source", "revision", "tenant", "score", "id", "x"]),
            st.none() | st.text(max_size=3) | st.floats() | st.integers() | st.booleans() | st.binary(max_size=2),
        ),
        max_size=4,
    )
)
def test_no_metadata_makes_it_fail_and_columns_fit(metadata):
    chunks = identify([Document(page_content=LONG, metadata=each) for each in metadata], PLAIN, 0)
    for column in (chunks.documents, chunks.revisions, chunks.tenants, chunks.scores, chunks.id_rules):
        assert len(column) in (0, len(metadata))
    assert all(chunks.ids)


@pytest.mark.parametrize(
    ("value", "expected"),
    [(1, 1.0), (0.5, 0.5), (numpy.float32(0.5), 0.5), (True, None), ("1", None), (float("inf"), None), (None, None)],
)
def test_scores_are_finite_numbers(value, expected):
    assert number(value) == expected


def test_objects_and_lists_are_known_again_and_copies_too():
    documents = Documents(PLAIN)
    found = [Document(id=name, page_content=LONG + name) for name in "ab"]
    documents.add(found)
    assert documents.now(found) == documents.now(found[::-1])[::-1] == ("a", "b")
    assert documents.now([each.model_copy() for each in found]) == ("a", "b")
    new = Document(id="c", page_content=LONG + "c")
    assert documents.news([found[0], found[1].model_copy(), new]) == [new]


def test_texts_changed_in_place_are_read_again_at_one_look_also_where_they_share_an_id():
    """Each look would be one more search of the prompt."""
    documents = Documents(PLAIN)
    pieces = [Document(page_content=f"piece {number}", id="a") for number in range(5)]
    ids = documents.add(pieces).ids
    for piece in pieces:
        piece.page_content += ", revised"
    assert documents.reread(ids)
    assert not documents.reread(ids)
    assert {f"piece {number}, revised" for number in range(5)} <= set(documents.texts_of(ids))


def test_a_list_changed_in_place_was_what_it_was():
    documents = Documents(PLAIN)
    found = [Document(id=name, page_content=LONG + name) for name in "abc"]
    documents.add(found)
    del found[1]
    assert documents.before(found) == ("a", "b", "c")
    assert documents.now(found) == ("a", "c")
    assert documents.before(found) == ("a", "c")


def test_a_piece_without_a_name_is_the_passage_it_was_cut_from():
    documents = Documents(PLAIN)
    documents.add([Document(id="a", page_content=LONG)])
    assert documents.now([Document(page_content=LONG[10:50])]) == ("a",)


def test_a_copy_without_its_name_is_the_passage_it_copies():
    """Cohere's reranker and EmbeddingsFilter of LangChain drop `Document.id`."""
    documents = Documents(PLAIN)
    documents.add([Document(id=name, page_content=LONG) for name in "ab"])
    assert documents.now([Document(page_content=LONG), Document(page_content=LONG)]) == ("a", "b")
    assert documents.now([Document(page_content="short", metadata={})]) == ("#3",)
    assert documents.now([Document(page_content="short")]) == ("#3",)


def test_what_a_model_wrote_of_one_passage_has_it_as_parent():
    documents = Documents(PLAIN)
    documents.add([Document(id="a", page_content=LONG)])
    documents.wrote(" In other words. ", ("a",))
    documents.wrote("Of two.", ("a", "b"))
    made = documents.add([Document(page_content=text) for text in ("In other words.", "Of two.", LONG)])
    assert made.parents == ("a", None, None)
    assert made.ids[2] == "a"


def test_what_is_kept_alive_is_bounded():
    documents = Documents(PLAIN)
    for place in range(300):
        documents.now([Document(id=str(place), page_content=LONG)])
    assert len(documents._lists) <= 256
    documents.add([Document(id="x", page_content=LONG)] * 20_000)
    assert len(documents._by_object) <= 10_000


class Color(enum.Enum):
    RED = 1


@dataclass
class State:
    found: list


class Model(BaseModel):
    found: list


PASSAGES = [Document(id="a", page_content="x")]


@pytest.mark.parametrize(
    ("value", "keys"),
    [
        (PASSAGES, [""]),
        (tuple(PASSAGES), [""]),
        ([(PASSAGES[0], 0.5)], [""]),
        ({"found": PASSAGES, "n": 1, "t": "text"}, ["found"]),
        ({"deep": {"found": PASSAGES}}, ["deep.found"]),
        ([PASSAGES, PASSAGES], ["", ""]),
        ([PASSAGES * 2, PASSAGES * 2], ["", ""]),
        (State(PASSAGES), ["found"]),
        (Model(found=PASSAGES), ["found"]),
        ({"found": []}, ["found"]),
        ("text", []),
        (None, []),
        (AIMessage("text"), []),
        ([AIMessage("text")], []),
        ({1: {2: {3: {4: PASSAGES}}}}, []),
        (Color.RED, []),
    ],
)
def test_lists_are_found_in_any_state(value, keys):
    assert [found.key for found in lists_in(value)] == keys


def test_a_huge_state_is_looked_at_in_part():
    assert lists_in(dict.fromkeys(range(10000), PASSAGES)) == lists_in(dict.fromkeys(range(64), PASSAGES))


def test_a_snapshot_is_a_copy_of_a_small_dict_only():
    small, huge = {"a": 1}, dict.fromkeys(range(1000))
    assert snapshot(small) == small
    assert snapshot(small) is not small
    assert snapshot(huge) is huge
    assert snapshot(PASSAGES) is PASSAGES


class Raising:
    """Lets nobody look at it."""

    __hash__ = None

    def __getattr__(self, name):
        raise RuntimeError(name)

    def __eq__(self, other):
        raise RuntimeError

    def __bool__(self):
        raise RuntimeError

    def __float__(self):
        raise RuntimeError


def kind(value):
    return type(value).__name__


@pytest.mark.parametrize("key", ["id", "source", "revision", "tenant", "score", "other"])
@pytest.mark.parametrize("value", [Raising(), numpy.array([1, 2]), float("nan"), b"x", 10**5000, "\udc00"], ids=kind)
def test_a_value_that_cannot_be_read_costs_itself_only(key, value):
    chunks = identify([Document(page_content=LONG, metadata={key: value})], PLAIN, 0)
    assert len(chunks.ids) == 1


def test_an_offset_is_a_number():
    """The allow-list names no offsets: free text under that key stays inside."""
    assert one(metadata={"source": "a.md", "start_index": "secret"}) == one()


class Lazy(dict):
    """Fetches what it gives."""

    def items(self):
        raise RuntimeError

    __iter__ = __getitem__ = get = values = keys = items


class LazyList(list):
    def __getitem__(self, index):
        raise RuntimeError

    __iter__ = __len__ = __getitem__


@pytest.mark.parametrize(
    "lazy", [Lazy(found=PASSAGES), LazyList(PASSAGES), (each for each in PASSAGES), Raising()], ids=kind
)
def test_what_is_lazy_is_left_alone(lazy):
    assert lists_in(lazy) == []
    assert [found.key for found in lists_in({"lazy": lazy, "found": PASSAGES})] == ["found"]


def test_many_passages_without_names_are_not_compared_without_end(monkeypatch):
    monkeypatch.setattr("rag_probe_langchain.documents._SEARCHED", 10_000)
    documents = Documents(PLAIN)
    documents.add([Document(page_content=f"{number:>100}") for number in range(2_000)])
    late = documents.add([Document(page_content=f"{number:>50}") for number in range(2_000)])
    assert len(set(late.ids)) > 1_000
    assert documents._searched < 10_000 + 2_000 * (100 + 50)


def test_many_short_passages_without_names_are_not_compared_without_end(monkeypatch):
    monkeypatch.setattr("rag_probe_langchain.documents._SEARCHED", 10_000)
    documents = Documents(PLAIN)
    documents.add([Document(page_content=chr(number)) for number in range(0x4E00, 0x5E00)])
    documents.add([Document(page_content=chr(number)) for number in range(0x5E00, 0x5E64)])
    assert documents._searched < 10_000 + 100 * 51  # a look costs more than a character


class _Odd(str):
    def __len__(self):
        raise RuntimeError


class _Keyless(dict):
    def keys(self):
        raise RuntimeError


@pytest.mark.parametrize(
    "odd",
    [
        Document.model_construct(id="odd", page_content=None, metadata={}),
        Document.model_construct(id="odd", page_content=_Odd("text"), metadata={}),
        Document.model_construct(id="odd", page_content="text", metadata=None),
        Document.model_construct(id="odd", page_content="text", metadata=_Keyless(tenant="x")),
    ],
)
def test_a_passage_whose_fields_are_no_text_and_no_dict_costs_itself_only(odd):
    """pydantic does not look at what is assigned: an app may make such a passage."""
    documents = Documents(CapturePolicy(content=True))
    good = Document(id="a", page_content="A good passage.", metadata={"tenant": "acme"})
    chunks = documents.add([good, odd])
    assert (chunks.ids, chunks.tenants) == (("a", "odd"), ("acme", None))
    assert documents.now([odd, good]) == ("odd", "a")
