"""A collector on free ports, and a client that shows answers as they are."""

import http.client
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import grpc
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from rag_probe_collector.receiver import Collector, Limits
from rag_probe_collector.spool import SpoolReader
from tests.otlp_batches import spans_in

EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
PROTOBUF = "application/x-protobuf"
PATIENCE = 100.0
"""Seconds that a busy machine may take for anything that does not wait for a limit of the collector's."""


@dataclass(frozen=True)
class Answer:
    status: int
    headers: http.client.HTTPMessage
    body: bytes


class Running:
    """A collector and the ways into it and its spool."""

    def __init__(self, collector: Collector, db: Path) -> None:
        self.collector = collector
        self.db = db

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(
            self.collector.http_address.host, self.collector.http_address.port, timeout=PATIENCE
        )

    def post(
        self, body: bytes, content_type: str | None = PROTOBUF, path: str = "/v1/traces", **headers: str
    ) -> Answer:
        connection = self.connect()
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request("POST", path, body, named | ({"Content-Type": content_type} if content_type else {}))
        response = connection.getresponse()
        answer = Answer(response.status, response.headers, response.read())
        connection.close()
        return answer

    def export(
        self, body: bytes, compression: grpc.Compression = grpc.Compression.NoCompression
    ) -> ExportTraceServiceResponse:
        options = [("grpc.max_send_message_length", -1)]
        with grpc.insecure_channel(str(self.collector.grpc_address), options, compression) as channel:
            call = channel.unary_unary(EXPORT, response_deserializer=ExportTraceServiceResponse.FromString)
            return call(body, timeout=PATIENCE)

    def spans(self) -> list[Span]:
        with SpoolReader(self.db) as reader:
            return spans_in(reader.batches())


@pytest.fixture
def start(tmp_path, monkeypatch) -> Iterator[Callable[..., Running]]:
    """Start a collector with the given limits, patient in all else; it is stopped with the test."""
    monkeypatch.setattr("rag_probe_collector.spool.file._BUSY_SECONDS", PATIENCE)
    patient = dict.fromkeys(("commit_seconds", "request_seconds", "idle_seconds", "stop_seconds"), PATIENCE)
    with ExitStack() as running:

        def start(**limits: float) -> Running:
            db = tmp_path / "spool.db"
            return Running(running.enter_context(Collector(db, limits=Limits(**patient | limits))), db)

        yield start


@pytest.fixture
def running(start) -> Running:
    return start()
