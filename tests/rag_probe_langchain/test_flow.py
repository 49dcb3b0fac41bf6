"""What a step did to its passages, from ids alone."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rag_probe_langchain.flow import changes, fallen, is_thinned, verdict
from rag_probe_langchain.known import minimal, union

names = st.sampled_from("abcdef")
lists = st.lists(names, max_size=6).map(tuple)
distinct = st.lists(names, max_size=6, unique=True).map(tuple)
states = st.dictionaries(st.sampled_from(["found", "kept", "other"]), distinct.filter(bool), max_size=3)


@given(states, states, st.lists(distinct, max_size=3))
def test_a_change_is_made_of_what_was_there(before, after, inner):
    for change in changes(before, after, inner):
        assert set(change.after) <= set(change.before)
        assert set(change.dropped) == set(change.before) - set(change.after)
        assert change.dropped or change.moved


@given(distinct, st.data())
def test_what_falls_out_of_a_list_is_what_is_missing(source, data):
    kept = tuple(name for name in source if data.draw(st.booleans()))
    found = changes({"": source}, {"": kept}, ())
    if kept == source:
        assert found == []
    else:
        (change,) = found
        assert (change.before, change.after, change.moved) == (source, kept, False)


@given(distinct.filter(lambda ids: len(ids) > 1), st.randoms(use_true_random=False))
def test_an_order_is_a_move_and_no_loss(source, random):
    shuffled = list(source)
    random.shuffle(shuffled)
    found = changes({"": source}, {"": tuple(shuffled)}, ())
    assert [change.moved for change in found] == ([] if tuple(shuffled) == source else [True])
    assert all(change.dropped == () for change in found)


@given(distinct, lists, st.booleans())
def test_of_a_step_that_ranks_what_falls_out_of_a_reranking_fell_below(source, ids, rescored):
    """One rule for a plain function, a compressor and a retriever around others."""
    plain = verdict(source, ids, rescored=rescored)
    ranking = verdict(source, ids, rescored=rescored, ranks=True)
    assert ranking.reranked == plain.reranked
    assert ranking.dropped == (() if plain.reranked else plain.dropped)
    assert set(plain.dropped) == set(source) - set(ids)
    assert plain.reranked or not rescored


@given(distinct, lists)
def test_what_is_thinned_out_is_no_reranking(source, ids):
    in_order = [name for name in source if name in ids]
    assert is_thinned(source, ids) == (in_order == list(ids))
    if is_thinned(source, ids):
        assert verdict(source, ids) == (False, fallen(source, ids))


@given(lists, st.data())
def test_what_a_list_left_out_of_a_passages_places_is_no_reranking(source, data):
    """A passage may stand in a list several times, as where all chunks of a document go by its id."""
    kept = tuple(name for name in source if data.draw(st.booleans()))
    assert verdict(source, kept) == (False, fallen(source, kept))


@given(st.lists(distinct.filter(bool), min_size=1, max_size=4), st.permutations(range(4)))
def test_what_stages_inside_let_through_is_no_change_in_whatever_order_they_ended(results, order):
    """As branches side by side, of which one found only what another found too."""
    ended = [results[place] for place in order if place < len(results)]
    assert changes({}, {f"branch {place}": ids for place, ids in enumerate(results)}, ended) == []


@given(states, lists)
def test_what_holds_something_new_is_no_change(before, after):
    assert changes(before, {"": (*after, "new")}, ()) == []


@given(distinct, distinct)
def test_a_merge_is_no_change(one, other):
    merged = union([one, other])
    assert changes({"one": one, "other": other}, {"": merged}, ()) == []


@given(states)
def test_a_state_that_goes_through_is_no_change(state):
    assert changes(state, state, ()) == []


def test_a_result_of_an_inner_stage_is_not_the_steps_doing():
    assert changes({"": ("a", "b", "c")}, {"": ("a",)}, [("a",)]) == []
    (change,) = changes({"": ("a", "b", "c")}, {"": ("a",)}, [("a", "b")])
    assert (change.before, change.dropped, change.late) == (("a", "b"), ("b",), True)


@given(st.lists(distinct, min_size=1, max_size=4))
def test_the_minimal_union_holds_no_set_that_contains_another(sets):
    found = set(minimal(sets))
    assert found <= set(union(sets))
    assert any(set(ids) <= found for ids in sets)


def test_what_was_retrieved_gives_way_to_what_was_kept():
    assert minimal([("a", "b", "c"), ("a", "b")]) == ("a", "b")
    assert minimal([("a", "b"), ("c",)]) == ("a", "b", "c")
