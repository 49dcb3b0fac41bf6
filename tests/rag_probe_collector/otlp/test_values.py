"""The fast reading of values against the protobuf library's own."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st
from opentelemetry.proto.common.v1.common_pb2 import AnyValue

from rag_probe_collector.otlp.values import MAX_ITEMS, Values, decode_value
from tests.rag_probe_collector.spans import value

scalars = st.one_of(
    st.text(max_size=200),
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    st.binary(max_size=3),
)
arrays = st.one_of(
    st.lists(st.text(max_size=150), max_size=8),
    st.lists(st.integers(-(2**63), 2**63 - 1), max_size=8),
    st.lists(st.floats(allow_nan=False), max_size=8),
    st.lists(st.booleans(), max_size=8),
    st.lists(scalars, max_size=4),
).map(tuple)


def readable(content):
    """What an attribute of ours can be: anything but bytes."""
    if isinstance(content, tuple):
        return None if any(isinstance(item, bytes) for item in content) else content
    return None if isinstance(content, bytes) else content


@given(scalars | arrays)
@example(tuple("x" * 300 for _ in range(400)))
@example(("",))
@example(())
def test_what_was_sent_is_read(content):
    raw = value(content).SerializeToString()
    assert decode_value(raw) == readable(content)
    assert type(decode_value(raw)) is type(readable(content))
    assert Values()[raw] == readable(content)


@given(st.binary(max_size=40) | st.binary(max_size=20).map(lambda tail: b"\x2a" + bytes([len(tail)]) + tail))
def test_anything_else_is_none_or_what_the_library_reads(raw):
    got = decode_value(raw)
    if got is None or isinstance(got, tuple):
        return
    expected = AnyValue.FromString(raw)
    assert got == getattr(expected, expected.WhichOneof("value")) or got != got  # NaN


def test_nested_and_keyed_values_are_not_attributes():
    nested = AnyValue()
    nested.array_value.values.add().array_value.values.add().string_value = "x"
    keyed = AnyValue()
    keyed.kvlist_value.values.add().key = "x"
    for one in (nested, keyed, AnyValue()):
        assert decode_value(one.SerializeToString()) is None


def test_an_overlong_array_is_not_captured():
    assert decode_value(value((True,) * (MAX_ITEMS + 1)).SerializeToString()) is None
    assert decode_value(value((True,) * MAX_ITEMS).SerializeToString()) == (True,) * MAX_ITEMS


def test_broken_utf8_becomes_replacement_characters():
    """Must-handle 18."""
    assert decode_value(b"\x0a\x02\xffa") == "\ufffda"
    assert decode_value(b"\x2a\x05\x0a\x03\x0a\x01\xff") == ("\ufffd",)


def test_the_memo_is_bounded():
    values = Values()
    for number in range(60_000):
        assert values[value(number).SerializeToString()] == number
    assert len(values) <= 50_000
    assert values[value("x" * 10_000).SerializeToString()] == "x" * 10_000
    assert max(map(len, values)) <= 512
