"""Order, repetition and splitting of deliveries change nothing; nothing that arrives raises (must-handle 30, 31)."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise, permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_probe import attributes
from rag_probe.path_json import to_json
from rag_probe.protocols import Selection
from rag_probe.stages import Chunks, Retrieval
from rag_probe.wire import encode, encode_node, encode_root
from rag_probe_collector.assembly.trace import assemble
from tests.rag_probe import strategies
from tests.rag_probe_collector.spans import (
    LOCAL,
    REMOTE,
    UNKNOWN,
    S,
    foreign,
    paths_of,
    request,
    source,
    span_id,
    stage,
    workflow,
)

NAMES = [name for key, name in vars(attributes).items() if key.isupper()]
IDS = st.integers(1, 12)
junk = st.one_of(
    st.text(max_size=5),
    st.booleans(),
    st.integers(-5, 2**40),
    st.floats(),
    st.binary(max_size=3),
    st.lists(st.text(max_size=3) | st.integers(-3, 5) | st.booleans() | st.floats(), max_size=3).map(tuple),
)
meanings = st.one_of(
    strategies.stages.map(encode),
    strategies.nodes.map(encode_node),
    strategies.roots.map(lambda root: {attributes.OPERATION: "invoke_workflow", **encode_root(root, 200)}),
    st.dictionaries(st.sampled_from(NAMES), junk, max_size=6),
)
spans = st.builds(
    S,
    id=IDS,
    parent=st.none() | IDS,
    at=st.integers(0, 6),
    took=st.integers(-1, 6),
    attributes=meanings,
    trace=st.integers(1, 2),
    scope=st.sampled_from(["rag_probe.langchain", "http"]),
    links=st.lists(st.tuples(st.integers(1, 2), IDS), max_size=1),
    error=st.none() | st.just("ValueError"),
    flags=st.sampled_from([LOCAL, REMOTE, UNKNOWN]),
)


def split(drawn, sent):
    """The spans in any number of messages."""
    cuts = sorted(drawn.draw(st.lists(st.integers(0, len(sent)), max_size=3)))
    bounds = [0, *cuts, len(sent)]
    return [request(*sent[start:end]) for start, end in pairwise(bounds)]


@settings(max_examples=60)
@given(st.lists(spans, max_size=10), st.data())
def test_any_order_any_repetition_any_split_gives_the_same_paths(sent, data):
    expected = paths_of(*sent)
    again = data.draw(st.permutations(sent + data.draw(st.lists(st.sampled_from(sent), max_size=4)))) if sent else []
    assert list(source(*split(data, again)).paths(Selection())) == expected


@settings(max_examples=40)
@given(st.lists(spans, max_size=10), st.integers(1, 5), st.integers(1, 5))
def test_a_second_look_in_small_pieces_finds_the_same(sent, kept, chunk):
    pieces = source(*[request(one) for one in sent], kept=kept, chunk=chunk)
    assert list(pieces.paths(Selection())) == paths_of(*sent)


@settings(max_examples=40)
@given(st.lists(spans, max_size=8))
def test_whatever_arrives_every_path_can_be_written(sent):
    for path in paths_of(*sent):
        to_json(path)


@settings(max_examples=30)
@given(st.lists(spans, max_size=12))
def test_paths_come_oldest_first(sent):
    starts = [path.started_at or 0 for path in paths_of(*sent)]
    assert starts == sorted(starts)


@settings(max_examples=40)
@given(st.lists(spans, min_size=1, max_size=12))
def test_every_span_of_a_trace_has_one_place_below_its_parent(sent):
    mine = [replace(one, trace=1) for one in sent]
    decoded = [span for batch in source(request(*mine)).store.scan(Selection()) for span in batch]
    places = assemble("1", decoded).places
    assert sorted(place.span.span_id for place in places) == sorted({span_id(one.id) for one in mine})
    for index, place in enumerate(places):
        assert place.parent is None or place.parent < index
        if place.parent is not None:
            assert places[place.parent].span.span_id == place.span.parent_id


def test_exact_copies_collapse_without_a_word():
    assert paths_of(workflow(1), workflow(1)) == paths_of(workflow(1))


def test_a_copy_that_differs_is_reported_and_not_merged():
    first, last = workflow(1, took=5, name="first"), workflow(1, took=9, name="last")
    (path,) = paths_of(last, first)
    assert path.latency_ms == 9
    assert any("arrived with different contents" in warning for warning in path.warnings)


def search(took, *ids):
    return stage(2, Retrieval(documents=Chunks(ids=ids)), 1, took=took, name="renamed on the way")


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_what_only_the_copies_say_that_are_not_read_is_not_captured(order):
    """A leak in one of them would be hidden: nobody knows what was returned."""
    copies = [search(1, "foreign", "a"), search(2, "a", "b"), search(3, "a")]
    (path,) = paths_of(workflow(1), *[copies[place] for place in order])
    assert path.retrieved.ids == ("a",)
    assert {"retrieved", "retrievals.documents"} <= set(path.not_captured)


def test_a_copy_that_was_sent_before_it_was_complete_hides_nothing():
    early = replace(search(0, "a"), attributes={attributes.STAGE: "retrieval"})
    (path,) = paths_of(workflow(1), early, search(3, "a"))
    assert "retrieved" not in path.not_captured


def test_a_resource_that_a_collector_added_to_is_no_difference():
    (path,) = paths_of(workflow(1, service="app"), workflow(1, service="app-2"))
    assert path.warnings == ()


def test_a_chain_of_calls_may_be_deep():
    """Must-handle 41: no recursion over the depth of a trace."""
    depth = 20_000
    calls = [foreign(number, parent=number - 1 or None, at=number) for number in range(1, depth)]
    assert len(paths_of(workflow(depth, parent=depth - 1, at=depth), *calls)) == 1
