"""How little a count proves (checklist 11)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_probe_collector.metrics.wilson import wilson


def test_worked_intervals():
    assert wilson(0, 5) == (0, pytest.approx(0.434, abs=5e-4))
    assert wilson(5, 5) == (pytest.approx(0.566, abs=5e-4), 1)
    assert wilson(0, 0) is None


@given(st.integers(1, 10_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_it_holds_the_share_and_stays_in_bounds(pair):
    count, n = pair
    low, high = wilson(count, n)
    assert 0 <= low <= count / n <= high <= 1
