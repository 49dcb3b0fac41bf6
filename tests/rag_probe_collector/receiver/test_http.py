"""OTLP/HTTP by the specification, one refusal at a time, and against hostile clients."""

import gzip
import socket
import threading
import zlib
from contextlib import suppress

import orjson
import pytest
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from rag_probe_collector.receiver.timed_stream import TimedStream
from tests.otlp_batches import payload, span
from tests.rag_probe_collector.receiver.conftest import PATIENCE, PROTOBUF

JSON = "application/json"
MIB = 1 << 20


def status_in(answer) -> Status:
    """The google.rpc.Status of a refusal, in whichever content type it came."""
    if answer.headers["Content-Type"] == PROTOBUF:
        return Status.FromString(answer.body)
    assert answer.headers["Content-Type"] == JSON
    return Status(**orjson.loads(answer.body))


@pytest.mark.parametrize(("body", "content_type", "empty"), [(b"", PROTOBUF, b""), (b"{}", JSON, b"{}")])
def test_an_empty_request_succeeds_and_stores_nothing(running, body, content_type, empty):
    answer = running.post(body, content_type)
    assert (answer.status, answer.body, answer.headers["Content-Type"]) == (200, empty, content_type)
    assert running.spans() == []


def test_unusable_spans_are_rejected_and_the_rest_stored(running):
    body = payload(span(0), span(1), span(2, trace=0))
    answer = running.post(body)
    partial = ExportTraceServiceResponse.FromString(answer.body).partial_success
    assert (answer.status, partial.rejected_spans) == (200, 2)
    assert "16" in partial.error_message
    assert running.spans() == [span(1)]


def test_partial_success_in_json_has_its_count_as_a_string(running):
    body = b'{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"00","spanId":"0102030405060708"}]}]}]}'
    answer = running.post(body, JSON)
    assert orjson.loads(answer.body)["partialSuccess"]["rejectedSpans"] == "1"


GZIP = {"Content_Encoding": "gzip"}
MALFORMED = {
    "no protobuf": (b"\xff\xff", PROTOBUF, {}, "ExportTraceServiceRequest"),
    "protobuf cut short": (payload(span(1))[:-3], PROTOBUF, {}, "ExportTraceServiceRequest"),
    "no json": (b"{", JSON, {}, "JSON"),
    "empty json": (b"", JSON, {}, "JSON"),
    "wrong type": (b'{"resourceSpans":[{"scopeSpans":3}]}', JSON, {}, "resourceSpans[0].scopeSpans: expected an array"),
    "too deep": (b"[" * 100_000, JSON, {}, "JSON"),
    "no gzip": (b"no gzip", PROTOBUF, GZIP, "gzip"),
    "gzip cut short": (gzip.compress(payload(span(1)))[:-1], PROTOBUF, GZIP, "end of the compressed stream"),
    "gzipped nonsense": (gzip.compress(b"\xff"), JSON, GZIP, "JSON"),
}


@pytest.mark.parametrize(("body", "content_type", "headers", "said"), MALFORMED.values(), ids=MALFORMED)
def test_a_malformed_body_is_400_and_the_spool_is_untouched(running, body, content_type, headers, said):
    assert running.post(payload(span(1))).status == 200
    answer = running.post(body, content_type, **headers)
    status = status_in(answer)
    assert (answer.status, status.code, answer.headers["Content-Type"]) == (400, 3, content_type)
    assert said in status.message
    assert running.post(payload(span(2))).status == 200
    assert running.spans() == [span(1), span(2)]


@pytest.mark.parametrize("path", ["/", "/v1/metrics/", "/v1/log", "/v1/traces/", "/v1/traces%20"])
@pytest.mark.parametrize("content_type", [PROTOBUF, JSON])
def test_another_path_is_404(running, path, content_type):
    answer = running.post(b"", content_type, path)
    assert (answer.status, status_in(answer).code, answer.headers["Content-Type"]) == (404, 5, content_type)
    assert "traces" in status_in(answer).message


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "OPTIONS", "PATCH", "BREW"])
def test_another_method_is_405(running, method):
    connection = running.connect()
    connection.request(method, "/v1/traces?x=1", b"body" if method == "PUT" else None)
    response = connection.getresponse()
    assert (response.status, response.headers["Allow"]) == (405, "POST")
    assert orjson.loads(response.read())["code"] == 12
    connection.close()


def test_head_has_no_body(running):
    connection = running.connect()
    connection.request("HEAD", "/v1/traces")
    response = connection.getresponse()
    assert (response.status, response.read()) == (405, b"")
    connection.close()


@pytest.mark.parametrize("content_type", [None, "text/plain", "application/protobuf2", "multipart/form-data"])
def test_another_content_type_is_415(running, content_type):
    answer = running.post(payload(span(1)), content_type)
    assert (answer.status, status_in(answer).code) == (415, 3)


def test_another_content_encoding_is_415(running):
    assert running.post(payload(span(1)), Content_Encoding="br").status == 415


@pytest.mark.parametrize("compress", [lambda body: body, gzip.compress, zlib.compress])
@pytest.mark.parametrize("content_type", [PROTOBUF, JSON])
def test_a_body_above_the_limit_is_413_also_after_decompression(start, compress, content_type):
    running = start(request_bytes=MIB)
    body = compress(bytes(MIB + 1))
    encoding = {} if len(body) > MIB else {"Content_Encoding": "gzip"}
    answer = running.post(body, content_type, **encoding)
    assert (answer.status, status_in(answer).code) == (413, 8)
    assert "Retry-After" not in answer.headers
    assert running.post(payload(span(1))).status == 200


def test_a_body_of_exactly_the_limit_is_read(start):
    running = start(request_bytes=MIB)
    overhead = len(payload(span(1, note="x" * MIB))) - MIB
    body = payload(span(1, note="x" * (MIB - overhead)))
    assert len(body) == MIB
    assert running.post(gzip.compress(body), Content_Encoding="gzip").status == 200


def test_a_length_far_above_the_limit_is_refused_without_being_read(start):
    running = start(request_bytes=MIB)
    with socket.create_connection(
        (running.collector.http_address.host, running.collector.http_address.port), PATIENCE
    ) as raw:
        raw.sendall(
            b"POST /v1/traces HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 999999999999\r\n\r\n"
        )
        raw.shutdown(socket.SHUT_WR)
        assert raw.makefile("rb").readline().split()[1:2] in ([b"413"], [])


def exchange(running, request: bytes) -> bytes:
    """Send bytes as they are and return all that comes back until the connection ends."""
    address = running.collector.http_address
    with socket.create_connection((address.host, address.port), PATIENCE) as raw:
        raw.sendall(request)
        with raw.makefile("rb") as answer:
            return answer.read()


HEAD = b"POST /v1/traces HTTP/1.1\r\nConnection: close\r\nContent-Type: application/x-protobuf\r\n"


def test_chunks_are_put_together(running):
    body = payload(span(1, note="x" * 5000))
    chunks = b"".join(b"%x;ext=1\r\n%b\r\n" % (len(part), part) for part in (body[:10], body[10:4000], body[4000:]))
    answer = exchange(running, HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + chunks + b"0\r\nTrailer: x\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 200")
    assert running.spans() == [span(1, note="x" * 5000)]


@pytest.mark.parametrize(
    "rest",
    [
        b"Transfer-Encoding: chunked\r\n\r\nxyz\r\n",
        b"Transfer-Encoding: chunked\r\n\r\n-1\r\n",
        b"Transfer-Encoding: chunked\r\n\r\n2\r\nabcdef\r\n",
        b"Transfer-Encoding: chunked\r\n\r\n" + b"1" * 2000,
        b"Transfer-Encoding: chunked\r\n\r\n0\r\n" + b"a: b\r\n" * 200 + b"\r\n",
        b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        b"Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n",
        b"Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
        b"Content-Length: -1\r\n\r\n",
        b"Content-Length: +3\r\n\r\nabc",
        b"Content-Length: 9999999999999999999999\r\n\r\n",
        b"Content-Length: \xb2\r\n\r\n",
    ],
)
def test_an_unclear_framing_is_400_and_ends_the_connection(running, rest):
    answer = exchange(running, HEAD.replace(b"Connection: close\r\n", b"") + rest)
    assert answer.startswith(b"HTTP/1.1 400")
    assert b"Connection: close" in answer


@pytest.mark.parametrize(
    "noise", [b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"A" * 70_000]
)
def test_what_is_not_http_gets_an_error_and_no_crash(running, noise):
    with suppress(ConnectionError):  # who sends much is cut off before the end
        exchange(running, noise)
    assert running.post(payload(span(1))).status == 200


def test_headers_without_end_are_refused(running):
    answer = exchange(running, HEAD + b"X: y\r\n" * 200 + b"\r\n")
    assert answer.startswith(b"HTTP/1.1 431")


def test_a_connection_serves_many_requests_also_after_refusals(running):
    connection = running.connect()
    for number, body in enumerate([payload(span(1)), b"\xff", payload(span(2)), b"", payload(span(3))]):
        connection.request("POST", "/v1/traces", body, {"Content-Type": PROTOBUF})
        response = connection.getresponse()
        assert response.status == (400 if number == 1 else 200)
        response.read()
    connection.close()
    assert running.spans() == [span(1), span(2), span(3)]


def test_a_client_that_asks_first_is_told_to_go_on(running):
    body = payload(span(1))
    address = running.collector.http_address
    with socket.create_connection((address.host, address.port), PATIENCE) as raw, raw.makefile("rb") as answer:
        raw.sendall(HEAD + b"Expect: 100-continue\r\nContent-Length: %d\r\n\r\n" % len(body))
        assert answer.readline() == b"HTTP/1.1 100 Continue\r\n"
        raw.sendall(body)
        assert b"HTTP/1.1 200" in answer.read()


@pytest.mark.parametrize("sent", [b"", b"POST /v1/tra", HEAD, HEAD + b"Content-Length: 10\r\n\r\nabc"])
def test_a_client_that_drips_or_stays_silent_is_let_go(start, sent, monkeypatch):
    running = start(request_seconds=0.3, idle_seconds=0.3)
    address = running.collector.http_address
    with socket.create_connection((address.host, address.port), PATIENCE) as raw:
        gone = threading.Event()

        def drip() -> None:
            with suppress(OSError):
                raw.sendall(sent)
                while sent and not gone.wait(0.05):
                    raw.sendall(b"x")

        dripping = threading.Thread(target=drip)
        dripping.start()
        try:
            with suppress(ConnectionError):
                while raw.recv(1000):
                    pass
        finally:
            gone.set()
            dripping.join()
    allow = TimedStream.allow
    monkeypatch.setattr(TimedStream, "allow", lambda stream, _: allow(stream, PATIENCE))
    assert running.post(payload(span(1))).status == 200


def test_one_connection_too_many_is_told_to_come_back(start):
    running = start(http_connections=2)
    held = [running.connect() for _ in range(2)]
    for connection in held:
        connection.request("POST", "/v1/traces", b"", {"Content-Type": PROTOBUF})
        connection.getresponse().read()
    answer = exchange(running, b"")
    assert answer.startswith(b"HTTP/1.1 503")
    assert b"Retry-After: 1" in answer
    for connection in held:
        connection.close()


def test_stopping_ends_idle_connections_and_finishes_begun_requests(start):
    running = start()
    idle = running.connect()
    idle.request("POST", "/v1/traces", b"", {"Content-Type": PROTOBUF})
    idle.getresponse().read()
    body = payload(span(1))
    address = running.collector.http_address
    with socket.create_connection((address.host, address.port), PATIENCE) as raw, raw.makefile("rb") as answer:
        raw.sendall(HEAD + b"Expect: 100-continue\r\nContent-Length: %d\r\n\r\n" % len(body))
        assert answer.readline().startswith(b"HTTP/1.1 100")  # so the request has begun
        stopping = threading.Thread(target=running.collector.stop)
        stopping.start()
        assert idle.sock.recv(1) == b""
        raw.sendall(body)
        assert b"HTTP/1.1 200" in answer.read()
        stopping.join()
    idle.close()
    assert running.spans() == [span(1)]
