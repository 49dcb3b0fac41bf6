"""Verdicts told one after the other are one list, however they came (issue C, validation)."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

from hypothesis import given
from hypothesis import strategies as st

from rag_probe.stages import Verdicts
from rag_probe.verdicts import followed
from rag_probe.wire.verdicts import get_verdicts, put_verdicts

rows = st.tuples(st.booleans(), st.none() | st.text(max_size=3), st.none() | st.integers(0, 9))


def one(row):
    passed, node, length = row
    return Verdicts(passed=(passed,), nodes=(node,), lengths=(length,) if length is not None else ())


@given(st.lists(rows, min_size=1, max_size=8), st.integers(1, 8))
def test_the_first_are_kept_and_all_are_counted(told, cap):
    found = reduce(lambda before, row: followed(before, one(row), cap), told, None)
    assert found.passed == tuple(passed for passed, _, _ in told[:cap])
    assert found.nodes == tuple(node for _, node, _ in told[:cap])
    assert (found.lengths or (None,) * len(found.passed)) == tuple(length for _, _, length in told[:cap])
    assert (found.count or len(found.passed)) == len(told)


@given(st.lists(rows, min_size=1, max_size=8), st.integers(0, 8))
def test_parts_of_a_question_add_up(told, cut):
    whole = reduce(lambda before, row: followed(before, one(row), 99), told, None)
    parts = [
        reduce(lambda before, row: followed(before, one(row), 99), part, None) for part in (told[:cut], told[cut:])
    ]
    first, second = (part for part in (*[part for part in parts if part is not None], None, None)[:2])
    joined = first if second is None else followed(first, second, 99)
    assert replace(joined, lengths=joined.lengths or whole.lengths) == replace(
        whole, lengths=whole.lengths or joined.lengths
    )


def test_a_list_that_is_cut_on_the_wire_says_how_many_there_were():
    sent = {}
    put_verdicts(sent, Verdicts(passed=(True, False, True), nodes=("a", None, "b")), 2)
    assert get_verdicts(sent) == Verdicts(passed=(True, False), nodes=("a", None), count=3)
