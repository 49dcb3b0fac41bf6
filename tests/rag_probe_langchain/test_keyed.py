"""Columns of metadata: those of a store's list are read in C, and say the same (issue B, speed)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_probe_langchain.keyed import first_of, keyed

WANTED = (("document_id", "source"), ("revision",), ("tenant", "tenant_id"), ("relevance_score", "score"))
KEYS = [*[key for keys in WANTED for key in keys], "page", 7]

values = st.none() | st.text("ab", max_size=2) | st.integers(-3, 3) | st.floats() | st.booleans() | st.just([1])
entries = st.dictionaries(st.sampled_from(KEYS), values)
alike = st.lists(st.sampled_from(KEYS), unique=True).flatmap(
    lambda keys: st.lists(st.fixed_dictionaries(dict.fromkeys(keys, values)), max_size=4)
)
asked = st.sampled_from([WANTED, (("tenant",), (), (), ()), (("source",), ("source",), ("tenant",), ())])


def one_by_one(metadata, wanted):
    present = set().union(*metadata)
    return [first_of(metadata, keys, present) for keys in wanted]


@given(st.lists(entries, max_size=4) | alike, asked)
def test_read_at_once_or_one_by_one_the_columns_are_the_same(metadata, wanted):
    at_once = [list(column) for column in keyed(metadata, wanted)]
    assert list(map(repr, at_once)) == list(map(repr, one_by_one(metadata, wanted)))


def test_where_the_first_key_has_nothing_the_second_counts():
    metadata = [{"document_id": None, "source": "a.md"}, {"document_id": "b", "source": "b.md"}]
    assert list(keyed(metadata, WANTED)[0]) == ["a.md", "b"]


@pytest.mark.parametrize("wanted", [(["source"], ["revision"], ["tenant"], ["score"]), WANTED])
def test_keys_may_be_given_as_lists(wanted):
    assert list(keyed([{"source": "a"}, {"source": "b"}], wanted)[0]) == ["a", "b"]
