"""What filters kept together, against the same said plainly; and how its cost grows (must-handle 41)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_probe.stages import Filtering
from rag_probe_collector.assembly.kept import Left, kept

names = st.sampled_from("abcdef")
lists = st.lists(names, max_size=4).map(tuple)
filters = st.lists(
    st.builds(lambda keep, drop: Filtering(step="f", kept=keep, dropped=drop), st.none() | lists, lists), max_size=6
)


@settings(max_examples=500)
@given(filters, st.dictionaries(names, names, max_size=4), st.none() | st.lists(names, max_size=5, unique=True))
def test_it_says_what_the_plain_reading_says(stages, parents, first):
    assert kept(stages, parents, first) == plainly(stages, parents, first)


def plainly(filters, parents, first):
    """Every list looked through again for every filter."""
    left = []
    for place, stage in enumerate(filters):
        if stage.kept is None:
            if not place and first is None:
                return None
            gone = set(stage.dropped)
            before = left if place else [(name, 0) for name in first or ()]
            left = [row for row in before if row[0] not in gone]
            continue
        keepers = dict(left)
        sources = [source(name, keepers, parents) for name in (*stage.kept, *stage.dropped)]
        known = {name for name in sources if name is not None}
        if None in sources:
            left = [row for row in left if row[0] not in known]
        else:
            behind = {keepers[name] for name in known}
            left = [row for row in left if sources and row[1] not in behind]
        left += [(name, place) for name in stage.kept]
    return tuple([name for name, _ in left])


def source(name, left, parents):
    seen = set()
    at = name
    while at is not None and at not in seen:
        if at in left:
            return at
        seen.add(at)
        at = parents.get(at)
    return None


def test_a_thousand_filters_are_looked_at_once_each(monkeypatch):
    """A hostile trace of many filters took minutes: every passage is asked for a bounded number of times."""
    asked = []
    look = Left._source
    monkeypatch.setattr(Left, "_source", lambda self, name: asked.append(name) or look(self, name))
    stages = [Filtering(step="f", kept=(f"a{number}", f"b{number}"), dropped=(f"c{number}",)) for number in range(1000)]
    assert len(kept(stages, {}, None)) == 2000
    assert len(asked) == 3000


@pytest.mark.parametrize(("made", "left"), [(15, ("p0",)), (16, ("p16", "gone", "p0"))])
def test_passages_are_followed_to_what_they_were_made_of_through_fifteen_others(made, left):
    parents = {f"p{number}": f"p{number + 1}" for number in range(made)}
    stages = [Filtering(step="f", kept=(f"p{made}", "gone")), Filtering(step="g", kept=("p0",))]
    assert kept(stages, parents, None) == left


def test_a_chain_of_parents_without_an_end_is_left():
    parents = {f"p{number}": f"p{number + 1}" for number in range(50)} | {"x": "y", "y": "x"}
    stages = [Filtering(step="f", kept=("p50",)), Filtering(step="g", kept=("p0", "x"))]
    assert kept(stages, parents, None) == ("p50", "p0", "x")
