"""The JSON encoding against the protobuf library's own, and against what senders get wrong (must-handle 33, 34)."""

import base64
import contextlib
import gzip
import os
from pathlib import Path
from unittest.mock import patch

import orjson
import pytest
from google.protobuf.json_format import MessageToDict
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from rag_probe_collector.otlp import json as whole_look
from rag_probe_collector.otlp.json import MAX_DEPTH, OtlpJsonError, parse_otlp_json

SHARED = Path(os.environ.get("RAG_PROBE_SHARED", "../shared"))
ID_FIELDS = {"traceId", "spanId", "parentSpanId"}

scalars = st.one_of(
    st.none(),
    st.booleans().map(lambda value: {"bool_value": value}),
    st.integers(-(2**63), 2**63 - 1).map(lambda value: {"int_value": value}),
    st.floats(allow_nan=False).map(lambda value: {"double_value": value}),
    st.text(max_size=5).map(lambda value: {"string_value": value}),
    st.binary(max_size=5).map(lambda value: {"bytes_value": value}),
).map(lambda value: value or {})
values = st.recursive(
    scalars,
    lambda inner: st.builds(
        lambda items, keyed: (
            {"kvlist_value": {"values": [{"key": "k", "value": i} for i in items]}}
            if keyed
            else {"array_value": {"values": items}}
        ),
        st.lists(inner, max_size=3),
        st.booleans(),
    ),
    max_leaves=5,
)
short = st.text(max_size=5)
attributes = st.lists(st.builds(lambda key, value: {"key": key, "value": value}, short, values), max_size=3)
uint64 = st.integers(0, 2**64 - 1)
uint32 = st.integers(0, 2**32 - 1)
links = st.fixed_dictionaries(
    {"trace_id": st.binary(min_size=16, max_size=16), "span_id": st.binary(min_size=8, max_size=8), "flags": uint32}
)
spans = st.fixed_dictionaries(
    {
        "trace_id": st.binary(min_size=16, max_size=16),
        "span_id": st.binary(min_size=8, max_size=8),
        "parent_span_id": st.sampled_from([b"", b"\1" * 8]),
        "name": short,
        "kind": st.integers(0, 5),
        "start_time_unix_nano": uint64,
        "end_time_unix_nano": uint64,
        "attributes": attributes,
        "dropped_attributes_count": uint32,
        "events": st.lists(
            st.builds(lambda at, name: {"time_unix_nano": at, "name": name}, uint64, st.text()), max_size=2
        ),
        "links": st.lists(links, max_size=2),
        "status": st.sampled_from([{}, {"code": 2, "message": "broken"}]),
    }
)
requests = st.builds(
    lambda attributes, spans: ExportTraceServiceRequest(
        resource_spans=[
            {"resource": {"attributes": attributes}, "scope_spans": [{"scope": {"name": "s"}, "spans": spans}]}
        ]
    ),
    attributes,
    st.lists(spans, max_size=3),
)


def otlp_json(request: ExportTraceServiceRequest, *, ids: str = "hex", **style: bool) -> bytes:
    """Write OTLP JSON with the protobuf library, then spell the ids as asked: hex, HEX or base64."""

    def respell(value: object) -> object:
        match value:
            case dict():
                return {key: spell(item) if key in ID_FIELDS else respell(item) for key, item in value.items()}
            case list():
                return [respell(item) for item in value]
            case _:
                return value

    def spell(encoded: str) -> str:
        digits = base64.b64decode(encoded).hex()
        return {"hex": digits, "HEX": digits.upper(), "base64": encoded}[ids]

    return orjson.dumps(respell(MessageToDict(request, **style)))


@given(request=requests, ids=st.sampled_from(["hex", "HEX", "base64"]), numbers=st.booleans())
def test_any_request_survives_json_in_every_spelling(request, ids, numbers):
    assert parse_otlp_json(otlp_json(request, ids=ids, use_integers_for_enums=numbers)) == request


@given(request=requests)
def test_snake_case_is_understood(request):
    body = orjson.dumps(MessageToDict(request, preserving_proto_field_name=True))
    assert parse_otlp_json(body) == request


def test_older_and_foreign_names_mean_the_same():
    span = {"traceId": "0A" * 16, "spanId": "0b" * 8, "startTimeUnixNano": 5, "endTimeUnixNano": "6"}
    ours = {"scopeSpans": [{"scope": {"name": "s"}, "spans": [span | {"kind": 3}]}]}
    theirs = {
        "instrumentationLibrarySpans": [
            {"instrumentationLibrary": {"name": "s"}, "spans": [span | {"kind": "SPAN_KIND_CLIENT"}]}
        ]
    }
    ours_parsed = parse_otlp_json(orjson.dumps({"resourceSpans": [ours]}))
    assert ours_parsed == parse_otlp_json(orjson.dumps({"batches": [theirs]}))
    assert ours_parsed.resource_spans[0].scope_spans[0].spans[0].trace_id == b"\n" * 16


def test_a_list_written_under_both_of_its_names_keeps_all_items():
    body = b'{"resourceSpans":[{"schemaUrl":"1"}],"batches":[{"schemaUrl":"2"}]}'
    assert [item.schema_url for item in parse_otlp_json(body).resource_spans] == ["1", "2"]


@pytest.mark.parametrize("body", [b"{}", b'{"unknown":[1]}', b'{"resourceSpans":null}', b'{"resourceSpans":[]}'])
def test_nothing_known_is_an_empty_request(body):
    assert parse_otlp_json(body) == ExportTraceServiceRequest()


def in_span(field: str) -> bytes:
    return b'{"resourceSpans":[{"scopeSpans":[{"spans":[{},{%s}]}]}]}' % field.encode()


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "the body: expected JSON"),
        (b"\xff", "the body: expected JSON"),
        (b'{"a":"\\ud800"}', "the body: expected JSON"),
        (b"[]", "the body: expected an object"),
        (b'{"resourceSpans":{}}', "resourceSpans: expected an array"),
        (b'{"resourceSpans":[3]}', "resourceSpans[0]: expected an object"),
        (in_span('"name":3'), "resourceSpans[0].scopeSpans[0].spans[1].name: expected a string"),
        (in_span('"traceId":"zz"'), "spans[1].traceId: expected 32 hexadecimal digits"),
        (in_span('"spanId":[1,2]'), "spans[1].spanId: expected 16 hexadecimal digits"),
        (in_span('"spanId":"\u0661\u0661"'), "spans[1].spanId: expected 16 hexadecimal digits"),
        (in_span('"startTimeUnixNano":"1_0"'), "spans[1].startTimeUnixNano: expected an integer from 0"),
        (in_span('"startTimeUnixNano":-1'), "spans[1].startTimeUnixNano: expected an integer from 0"),
        (in_span('"startTimeUnixNano":true'), "spans[1].startTimeUnixNano: expected an integer from 0"),
        (in_span('"startTimeUnixNano":"%s"' % ("9" * 5000)), "spans[1].startTimeUnixNano: expected an integer from 0"),
        (in_span('"kind":"CLIENT"'), "spans[1].kind: expected a number or one of the enum's names"),
        (in_span('"kind":1.5'), "spans[1].kind: expected an integer"),
        (in_span('"attributes":[{"value":{"intValue":"9223372036854775808"}}]'), "value.intValue: expected an integer"),
        (in_span('"attributes":[{"value":{"boolValue":1}}]'), "value.boolValue: expected true or false"),
        (in_span('"attributes":[{"value":{"doubleValue":"x"}}]'), "value.doubleValue: expected a number"),
        (in_span('"attributes":[{"value":{"bytesValue":"*"}}]'), "value.bytesValue: expected base64"),
    ],
)
def test_a_wrong_body_is_named_by_its_field(body, message):
    with pytest.raises(OtlpJsonError) as caught:
        parse_otlp_json(body)
    assert message in str(caught.value)


def nested(levels: int) -> bytes:
    return in_span('"attributes":[{"value":' + '{"arrayValue":{"values":[' * levels + "{}" + "]}}" * levels + "}]")


@pytest.mark.parametrize("levels", [MAX_DEPTH // 2, 300, 100_000])
def test_deep_nesting_is_refused_not_followed(levels):
    with pytest.raises(OtlpJsonError):
        parse_otlp_json(nested(levels))


def test_what_passes_the_depth_limit_can_be_read_back():
    request = parse_otlp_json(nested(MAX_DEPTH // 2 - 4))
    assert ExportTraceServiceRequest.FromString(request.SerializeToString()) == request


def test_a_body_of_millions_of_empty_objects_is_refused_before_parsing():
    with pytest.raises(OtlpJsonError, match="at most 4,000,000"):
        parse_otlp_json(b'{"resourceSpans":[' + b"{}," * 4_000_000 + b"{}]}")


names = st.sampled_from(["resourceSpans", "scopeSpans", "spans", "attributes", "value", "kvlistValue", "traceId"])
anything = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | short,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
)


@given(st.binary(max_size=200) | anything.map(orjson.dumps))
def test_any_other_body_is_a_request_or_one_error(body):
    with contextlib.suppress(OtlpJsonError):
        assert isinstance(parse_otlp_json(body), ExportTraceServiceRequest)


@pytest.mark.skipif(not (SHARED / "data/peers").is_dir(), reason="RAG_PROBE_SHARED holds no data/peers")
def test_real_files_of_other_instrumentations_are_read_as_the_protobuf_library_reads_them():
    for path in sorted((SHARED / "data/peers").glob("*.otlp.jsonl.gz")):
        for line in gzip.decompress(path.read_bytes()).splitlines():
            request = parse_otlp_json(line)
            assert parse_otlp_json(otlp_json(request)) == request
            assert any(scope.spans for resource in request.resource_spans for scope in resource.scope_spans)


broken_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False) | short | st.just("7"),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(
                ["stringValue", "intValue", "boolValue", "doubleValue", "arrayValue", "values", "key", "value"]
            ),
            inner,
            max_size=2,
        )
    ),
    max_leaves=8,
)


@given(
    st.lists(
        st.fixed_dictionaries({"key": short | st.none() | st.integers(0, 9), "value": broken_values}) | broken_values,
        max_size=3,
    )
)
def test_the_quick_look_at_attributes_says_what_the_whole_look_says(attributes):
    """Also of wrong ones, in the same words."""
    body = orjson.dumps({"resourceSpans": [{"resource": {"attributes": attributes}}]})
    quick = outcome(body)
    with patch.object(whole_look, "LEVELS", MAX_DEPTH + 1):
        assert outcome(body) == quick


def outcome(body: bytes) -> object:
    try:
        return parse_otlp_json(body)
    except OtlpJsonError as error:
        return str(error)


@pytest.mark.parametrize("levels", range(14, 36))
@pytest.mark.parametrize("around", ['{"arrayValue":{"values":[%s]}}', '{"kvlistValue":{"values":[{"value":%s}]}}'])
def test_the_quick_look_goes_no_deeper(around, levels):
    value = '{"arrayValue":{"values":[{"stringValue":"a"}]}}'
    for _ in range(levels):
        value = around % value
    body = in_span('"attributes":[{"key":"k","value":' + value + "}]")
    quick = outcome(body)
    with patch.object(whole_look, "LEVELS", MAX_DEPTH + 1):
        assert outcome(body) == quick
