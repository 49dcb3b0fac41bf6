"""OTLP/gRPC: partial success, refusals with a google.rpc.Status, sizes."""

import grpc
import pytest
from google.rpc.status_pb2 import Status

from tests.otlp_batches import payload, span

MIB = 1 << 20


def refused(running, body: bytes, compression=grpc.Compression.NoCompression) -> grpc.RpcError:
    with pytest.raises(grpc.RpcError) as caught:
        running.export(body, compression)
    return caught.value


def test_success_leaves_partial_success_unset(running):
    assert not running.export(payload(span(1))).HasField("partial_success")
    assert not running.export(b"").HasField("partial_success")
    assert running.spans() == [span(1)]


def test_unusable_spans_are_rejected_and_the_rest_stored(running):
    answer = running.export(payload(span(0), span(1)))
    assert answer.partial_success.rejected_spans == 1
    assert running.spans() == [span(1)]


def test_a_malformed_body_is_invalid_argument_with_a_status(running):
    running.export(payload(span(1)))
    error = refused(running, b"\xff\xff")
    assert error.code() is grpc.StatusCode.INVALID_ARGUMENT
    trailers = dict(error.trailing_metadata())
    status = Status.FromString(trailers["grpc-status-details-bin"])
    assert status.code == 3
    assert "ExportTraceServiceRequest" in status.message
    assert "google.rpc.retryinfo-bin" not in trailers
    assert running.spans() == [span(1)]


@pytest.mark.parametrize(
    "compression", [grpc.Compression.NoCompression, grpc.Compression.Gzip, grpc.Compression.Deflate]
)
def test_a_body_above_the_limit_is_resource_exhausted_without_a_retry(start, compression):
    running = start(request_bytes=MIB)
    error = refused(running, bytes(64 * MIB), compression)
    assert error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert "google.rpc.retryinfo-bin" not in dict(error.trailing_metadata())
    running.export(payload(span(1)), compression)
    assert running.spans() == [span(1)]
