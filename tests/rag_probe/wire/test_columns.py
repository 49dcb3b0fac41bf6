"""Columns that are looked at together are written as one by one (issue B, speed)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rag_probe.wire.columns import put_columns, put_texts

texts = st.text("ab", max_size=3) | st.sampled_from(["\udc00", "é", "x" * 300]) | st.none()
columns = st.lists(st.lists(st.text("ab"), max_size=4).map(tuple) | st.lists(texts, max_size=4).map(tuple), max_size=3)


@given(columns, st.sampled_from([1, 3, 200]))
def test_texts_looked_at_together_are_written_as_one_by_one(columns, cap):
    named = {str(place): column for place, column in enumerate(columns)}
    together, apart = {}, {}
    put_texts(together, cap, named.keys(), named.values())
    put_columns(apart, cap, *named.items())
    assert together == apart
