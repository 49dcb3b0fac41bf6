"""Requests as spans, against the protobuf library's own reading."""

from __future__ import annotations

import pytest
from google.protobuf.message import DecodeError

from rag_probe_collector.otlp.decode import MAX_ATTRIBUTES, Interest, SpanDecoder
from tests.rag_probe_collector.spans import LOCAL, MS, REMOTE, T0, S, request, span_id, trace_id

INTEREST = Interest(("rag_probe",), ("rag.stage",))


def decoded(*spans: S):
    return SpanDecoder(INTEREST).decode(request(*spans).SerializeToString())


def test_a_span_with_everything():
    (span,) = decoded(
        S(2, 1, at=3, took=4, attributes={"k": ("v",)}, name="step", links=((7, 8),), error="ValueError", flags=LOCAL)
    )
    assert (span.trace_id, span.span_id, span.parent_id) == (trace_id(1), span_id(2), span_id(1))
    assert (span.start, span.end, span.latency_ms) == (T0 + 3 * MS, T0 + 7 * MS, 4)
    assert (span.name, span.scope, span.resource.service) == ("step", "rag_probe.langchain", "rag-app")
    assert span.attributes == {"k": ("v",), "error.type": "ValueError"}
    assert (span.failed, span.error, span.local_parent) == (True, "ValueError", True)
    assert span.links == ((trace_id(7), span_id(8)),)


def test_a_span_with_almost_nothing():
    """Must-handle 33: missing fields are legal."""
    (span,) = decoded(S(1, name="", start=0, end=0))
    assert (span.parent_id, span.name, span.latency_ms, span.error, span.local_parent) == (None, "", None, None, None)
    assert (span.attributes, span.links) == ({}, ())


def test_only_claimed_spans_keep_their_attributes():
    kept, marked, other = decoded(
        S(1, attributes={"x": 1}),
        S(2, attributes={"rag.stage": "filter", "x": 1}, scope="other"),
        S(3, attributes={"x": 1}, scope="other"),
    )
    assert (kept.attributes, marked.attributes, other.attributes) == ({"x": 1}, {"rag.stage": "filter", "x": 1}, {})


def test_a_remote_parent_is_told_from_a_local_one():
    assert [span.local_parent for span in decoded(S(1, 9, flags=LOCAL), S(2, 9, flags=REMOTE))] == [True, False]


def test_spans_without_usable_ids_are_left_out_and_counted():
    body = request(S(1), S(2), S(3), S(4))
    spans = body.resource_spans[0].scope_spans[0].spans
    spans[0].trace_id, spans[1].span_id, spans[2].trace_id = b"short", b"", bytes(16)
    decoder = SpanDecoder(INTEREST)
    assert [span.span_id for span in decoder.decode(body.SerializeToString())] == [span_id(4)]
    assert decoder.rejected == 3


def test_of_too_many_attributes_the_first_by_name_are_read():
    many = {f"k{number:05}": number for number in range(MAX_ATTRIBUTES + 50)}
    (span,) = decoded(S(1, attributes=many))
    assert list(span.attributes) == sorted(many)[:MAX_ATTRIBUTES]


def test_what_of_ours_is_not_read_is_counted_as_lost():
    """Beyond the bound, or of a kind that none of ours has; what others write is nothing that we miss."""
    others = {f"k{number:05}": number for number in range(MAX_ATTRIBUTES)}
    nested = {"rag.context.ids": (("a",),), "rag.filter.kept": b"a", "other": b"a"}
    crowded, odd, usual = decoded(
        S(1, attributes={**others, "rag.stage": "filter", "rag.filter.kept": ("a",)}),
        S(2, attributes={"rag.stage": "filter", **nested}),
        S(3, attributes={"rag.stage": "filter", "other": b"a"}),
    )
    assert (crowded.lost, odd.lost, usual.lost) == (2, 2, 0)


def test_an_error_without_a_type_is_other():
    body = request(S(1))
    body.resource_spans[0].scope_spans[0].spans[0].status.code = 2
    assert SpanDecoder(INTEREST).decode(body.SerializeToString())[0].error == "_OTHER"


def test_no_request():
    with pytest.raises(DecodeError):
        SpanDecoder(INTEREST).decode(b"\x0a\x7f")
    assert SpanDecoder(INTEREST).decode(b"") == []
