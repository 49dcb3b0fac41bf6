"""Patterns over nodes mean what `re` means, without its exponential time."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_probe_collector.register.route import RouteError, follows, parse_route

names = st.sampled_from(["a", "b", "c"])
routes = st.recursive(
    names,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(" ".join),
        st.lists(inner, min_size=1, max_size=3).map(" | ".join),
        st.tuples(inner, st.sampled_from("?*+")).map(lambda pair: f"({pair[0]}){pair[1]}"),
    ),
    max_leaves=6,
)


@given(routes, st.lists(names, max_size=5))
def test_a_pattern_means_what_the_regular_expression_means(route, nodes):
    expression = re.sub(r"[abc]", lambda found: f"(?:{found[0]};)", route).replace(" ", "")
    assert follows(nodes, route) == bool(re.fullmatch(expression, "".join(f"{node};" for node in nodes)))


def test_a_list_is_the_very_route():
    assert follows(["retrieve", "draft"], ("retrieve", "draft"))
    assert not follows(["retrieve", "draft", "draft"], ("retrieve", "draft"))


def test_no_pattern_takes_long():
    assert not follows(["a"] * 200, "(a | a)* (a+)+ b")


@pytest.mark.parametrize("text", ["", "(", "a)", "*", "a | ", "()", "(" * 60 + "a" + ")" * 60])
def test_a_pattern_that_says_nothing_is_refused(text):
    with pytest.raises(RouteError):
        parse_route(text)
