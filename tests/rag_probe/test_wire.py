"""`decode` is the inverse of `encode`, and reads anything without raising."""

from __future__ import annotations

from dataclasses import replace
from math import isfinite
from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

from rag_probe import attributes
from rag_probe.stages import (
    Answer,
    Budget,
    Chunks,
    Citations,
    Content,
    ContextAssembly,
    Filtering,
    Generation,
    PermissionCheck,
    Rerank,
    Retrieval,
)
from rag_probe.wire import decode, decode_node, decode_root, decode_tags, encode, encode_node, encode_root, encode_tags
from rag_probe.wire.columns import put_known
from rag_probe.wire.context import ids_of_context
from rag_probe.wire.decisions import encode_plain_filtering

from . import strategies

NAMES = [value for name, value in vars(attributes).items() if name.isupper()]
junk = st.one_of(
    st.text(max_size=5),
    st.booleans(),
    st.integers(-2, 2**40),
    st.floats(),
    st.lists(st.text(max_size=3), max_size=3).map(tuple),
    st.lists(st.integers(-3, 5), max_size=3).map(tuple),
    st.lists(st.booleans() | st.floats(), max_size=3).map(tuple),
    st.none(),
)


@given(strategies.stages)
def test_a_stage_survives_the_wire(stage):
    assert decode(encode(stage)) == stage


@st.composite
def usual_contexts(draw):
    """Mostly what `encode` writes at once, and what is nearly that."""
    ids = draw(strategies.ids())
    odd = st.none() | st.integers(-(2**70), 2**70)
    tokens = draw(st.lists(strategies.numbers | strategies.numbers | odd, min_size=len(ids), max_size=len(ids)))
    budget = Budget(used=draw(strategies.maybe_numbers | odd), tokenizer=draw(strategies.maybe_words))
    return ContextAssembly(
        ids=ids,
        tokens=tuple(tokens),
        truncated=tuple(draw(st.lists(st.booleans(), min_size=len(ids), max_size=len(ids)))),
        budget=budget,
        dropped=draw(st.just(()) | strategies.ids(max_size=2)),
    )


@given(usual_contexts() | strategies.contexts(), st.sampled_from([2, 200]))
def test_the_usual_context_is_written_at_once_as_any_other_is(context, cap):
    """Issue B, speed."""
    with patch("rag_probe.wire.context._put_usual", lambda *_: False):
        one_by_one = encode(context, cap)
    assert encode(context, cap) == one_by_one


@st.composite
def usual_citations(draw):
    """Mostly what `encode` writes at once, and what is nearly that."""
    ids = draw(strategies.ids())
    odd = st.integers(-(2**70), 2**70)
    columns = [
        tuple(draw(st.lists(kind, min_size=len(ids), max_size=len(ids))))
        for kind in (strategies.words, *[strategies.numbers | strategies.numbers | odd] * 2, st.booleans())
    ]
    columns[draw(st.integers(0, 3))] = draw(st.sampled_from([*columns, ()]))
    return Citations(**dict(zip(("markers", "starts", "ends", "valid"), columns, strict=True)), ids=ids)


@given(usual_citations() | strategies.citations(), st.sampled_from([2, 200]))
def test_the_usual_citations_are_written_at_once_as_any_others_are(citations, cap):
    """Issue B, speed."""
    answer = Answer(citations=citations)
    with patch("rag_probe.wire.answer._are_usual", lambda *_: False):
        one_by_one = encode(answer, cap)
    assert encode(answer, cap) == one_by_one


@given(strategies.generations, st.none() | st.integers(-(2**70), 2**70))
def test_a_call_is_written_as_its_parts_would_be_one_by_one(call, tokens):
    """Issue B, speed: what calls have in common is remembered, and tokens are looked at together."""
    call = replace(call, cached_tokens=tokens, context=None)
    sent = encode(call)
    one_by_one: dict[str, object] = {}
    put_known(
        one_by_one,
        (attributes.INPUT_TOKENS, call.input_tokens),
        (attributes.OUTPUT_TOKENS, call.output_tokens),
        (attributes.CACHE_READ_TOKENS, tokens),
        (attributes.REASONING_TOKENS, call.reasoning_tokens),
        (attributes.PROVIDER, call.provider),
        (attributes.GENERATION_ROLE, call.role),
    )
    assert {name: sent.get(name) for name in one_by_one} == one_by_one
    assert (attributes.CACHE_READ_TOKENS in sent) == (attributes.CACHE_READ_TOKENS in one_by_one)
    sent.clear()
    assert encode(call)[attributes.STAGE] == "generation"  # nobody else's copy


@given(strategies.contexts(), strategies.words, st.sampled_from([2, 200]))
def test_the_step_that_built_a_context_says_its_ids_as_an_encoded_one_that_has_nothing_else(context, step, cap):
    alone = ContextAssembly(step=step, ids=context.ids)
    assert ids_of_context(encode(context, cap), step) == encode(alone, cap)


@given(strategies.words, strategies.ids().filter(bool), strategies.ids().filter(bool))
def test_a_filter_of_well_formed_ids_is_written_as_an_encoded_one(step, kept, dropped):
    assert encode_plain_filtering(step, kept, dropped) == encode(Filtering(step=step, kept=kept, dropped=dropped))


@given(strategies.roots)
def test_a_root_survives_the_wire(root):
    assert decode_root(encode_root(root, cap=200)) == root


@given(strategies.nodes)
def test_a_node_survives_the_wire(node):
    assert decode_node(encode_node(node)) == node


@given(strategies.tags)
def test_tags_survive_baggage_where_every_value_is_text(tags):
    assert decode_tags({name: str(value) for name, value in encode_tags(tags).items()}) == tags


@given(strategies.stages)
def test_attributes_hold_no_null_and_one_kind_of_primitive(stage):
    for value in encode(stage).values():
        items = value if isinstance(value, tuple) else (value,)
        assert len({type(item) for item in items}) <= 1
        assert not {type(item) for item in items} - {str, bool, int, float}


@given(
    st.sampled_from(["retrieval", "rerank", "filter", "permission", "context", "generation", "tool", "answer", "x"]),
    st.dictionaries(st.sampled_from(NAMES), junk),
)
def test_hostile_attributes_never_raise(kind, values):
    decode({**values, attributes.STAGE: kind})
    decode_root(values)
    decode_node(values)


@given(strategies.retrievals, st.integers(1, 4))
def test_a_cut_list_says_how_many_there_were(stage, cap):
    read = decode(encode(stage, cap=cap))
    if stage.documents is None:
        assert read.documents is None
        return
    total = len(stage.documents.ids) if stage.documents.count is None else stage.documents.count
    assert read.documents.ids == stage.documents.ids[:cap]
    assert read.documents.cut == (total > len(read.documents.ids))
    assert (read.documents.count or len(read.documents.ids)) == total


def test_nothing_kept_is_a_fact_and_survives_a_backend_that_drops_empty_arrays():
    told = Filtering(kept=None, dropped=("a",), reasons=("stale",))
    assert decode(encode(told)) == told
    sent = encode(Filtering(kept=(), dropped=("a",)))
    assert decode({name: value for name, value in sent.items() if value != ()}) == Filtering(kept=(), dropped=("a",))


def test_scores_known_for_some_carry_their_places_not_nulls():
    sent = encode(Retrieval(documents=Chunks(ids=("a", "b", "c"), scores=(0.5, None, 0.0))))
    assert sent["rag.retrieval.scores"] == (0.5, 0.0)
    assert sent["rag.retrieval.scores_at"] == (0, 2)


@given(st.lists(st.none() | st.floats(), min_size=1, max_size=6).map(tuple))
def test_a_number_that_is_not_finite_is_a_gap(scores):
    ids = tuple(f"d{place}" for place in range(len(scores)))
    known = tuple(score if score is not None and isfinite(score) else None for score in scores)
    read = decode(encode(Rerank(ids=ids, scores=scores)))
    assert read.scores == (known if any(score is not None for score in known) else ())


@given(st.lists(st.text(st.characters(), min_size=1), min_size=1).map(tuple), st.text(st.characters()))
def test_every_text_that_leaves_can_be_encoded(ids, text):
    """must-handle 18: a lone surrogate would make the exporter drop the whole batch."""
    sent = encode(Retrieval(query=Content(text=text), documents=Chunks(ids=ids)))
    "".join(sent["rag.retrieval.ids"]).encode()
    sent["gen_ai.retrieval.query.text"].encode()
    assert [len(name) for name in sent["rag.retrieval.ids"]] == [len(name) for name in ids]


@given(strategies.stages, strategies.roots)
def test_a_span_stays_far_below_the_limit_of_128_attributes(stage, root):
    """must-handle 10: the SDK drops the oldest ones, which are the key ones."""
    assert len({**encode_root(root, cap=2), **encode(stage, cap=2)}) <= 64


def test_an_integer_beyond_64_bits_is_a_gap():
    sent = encode(
        Generation(input_tokens=2**63, output_tokens=2**63 - 1, context=ContextAssembly(ids=("a",), tokens=(2**63,)))
    )
    assert sent["gen_ai.usage.output_tokens"] == 2**63 - 1
    assert not {"gen_ai.usage.input_tokens", "rag.context.tokens"} & set(sent)


def test_an_integer_beyond_any_float_is_not_captured():
    assert decode({"rag.stage": "rerank", "rag.rerank.ids": ("a",), "rag.rerank.scores": (10**400,)}).scores == ()


def test_a_column_of_another_length_is_not_captured():
    sent = encode(Retrieval(documents=Chunks(ids=("a", "b"), scores=(0.5, 0.25))))
    read = decode({**sent, "rag.retrieval.scores": (0.5,)})
    assert read == replace(decode(sent), documents=Chunks(ids=("a", "b")))


def test_decisions_that_do_not_cover_every_id_are_not_captured():
    sent = encode(PermissionCheck(ids=("a", "b"), decisions=("allow", "deny")))
    assert decode({**sent, "rag.permission.decisions": ("allow", "maybe")}) is None
