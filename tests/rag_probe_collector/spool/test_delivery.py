"""What one request is taken for: its extents by trace, its digest, its unusable spans."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from rag_probe_collector.spool import Extent, MalformedRequestError, examine
from rag_probe_collector.spool.delivery import merge
from tests.otlp_batches import payload, span, spans_in

spans = st.builds(
    Span,
    trace_id=st.sampled_from([b"a" * 16, b"b" * 16, bytes(16), b"", b"short"]),
    span_id=st.sampled_from([b"1" * 8, b"2" * 8, bytes(8), b"", b"much too long"]),
    name=st.text(max_size=3),
    start_time_unix_nano=st.integers(0, 2**64 - 1),
    end_time_unix_nano=st.integers(0, 2**64 - 1) | st.just(0),
)


def usable(each: Span) -> bool:
    return len(each.trace_id) == 16 and any(each.trace_id) and len(each.span_id) == 8 and any(each.span_id)


def naive(kept: list[Span]) -> set[Extent]:
    extents: set[Extent] = set()
    for trace_id in {each.trace_id for each in kept}:
        mine = [each for each in kept if each.trace_id == trace_id]
        instants = [at for each in mine for at in (each.start_time_unix_nano, each.end_time_unix_nano) if at > 0]
        capped = [min(at, 2**63 - 1) for at in instants]
        extents.add(Extent(trace_id, min(capped) if capped else None, max(capped) if capped else None, len(mine)))
    return extents


@given(st.lists(spans, max_size=6))
def test_usable_spans_are_kept_and_indexed_the_rest_is_counted(given_spans):
    body = payload(*given_spans)
    delivery = examine(body)
    kept = list(filter(usable, given_spans))
    assert spans_in([delivery.payload]) == kept
    assert delivery.rejected == len(given_spans) - len(kept)
    assert set(delivery.extents) == naive(kept)
    assert delivery.rejected or delivery.payload == body


@given(st.lists(st.lists(spans, max_size=4), max_size=4))
def test_merging_deliveries_is_examining_their_concatenation(groups):
    deliveries = [examine(payload(*group)) for group in groups]
    together = examine(b"".join(delivery.payload for delivery in deliveries))
    assert set(merge(deliveries)) == set(together.extents)


def test_equal_payloads_have_equal_digests_and_others_have_not():
    one, same, other = (examine(payload(span(1, note=note))) for note in ("x", "x", "y"))
    assert one.digest == same.digest != other.digest


@pytest.mark.parametrize("body", [b"\xff", b"not protobuf", payload(span(1))[:-1], b"\x0a\x05\x12\x03\x12\x01\xff"])
def test_a_malformed_request_is_an_error(body):
    with pytest.raises(MalformedRequestError, match="ExportTraceServiceRequest"):
        examine(body)


def test_an_empty_request_is_an_empty_delivery():
    assert examine(b"").extents == ()
