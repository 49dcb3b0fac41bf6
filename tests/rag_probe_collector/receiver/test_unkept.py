"""Metrics and logs, which distributions send by default: acknowledged, said once, not kept (issue B)."""

from __future__ import annotations

import gzip

import grpc
import orjson
import pytest
from opentelemetry.exporter.otlp.proto.grpc.metric_exporter import OTLPMetricExporter as GrpcExporter
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter as HttpExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader, MetricExportResult

from rag_probe_collector.receiver.unkept import Unkept
from tests.otlp_batches import payload, span

from .conftest import PATIENCE, PROTOBUF

JSON = "application/json"


def exporter_to(running, kind):
    if kind == "grpc":
        return GrpcExporter(endpoint=str(running.collector.grpc_address), insecure=True, timeout=PATIENCE)
    return HttpExporter(endpoint=f"http://{running.collector.http_address}/v1/metrics", timeout=PATIENCE)


@pytest.mark.parametrize("kind", ["grpc", "http"])
def test_a_real_exporter_of_metrics_is_content(running, kind):
    reader = InMemoryMetricReader()
    MeterProvider([reader]).get_meter("app").create_counter("questions").add(1)
    exporter = exporter_to(running, kind)
    assert exporter.export(reader.get_metrics_data()) is MetricExportResult.SUCCESS
    exporter.shutdown()
    assert running.spans() == []


@pytest.mark.parametrize("signal", Unkept)
def test_each_is_said_once_whatever_the_protocol(running, caplog, signal):
    for _ in range(3):
        assert running.post(b"what it says is not read", path=signal.path).status == 200
        with grpc.insecure_channel(str(running.collector.grpc_address)) as channel:
            assert channel.unary_unary(f"/{signal.service}/Export")(b"nor is this", timeout=PATIENCE) == b""
    assert [record.getMessage().split()[0] for record in caplog.records] == [signal]
    assert f"OTEL_{signal.upper()}_EXPORTER=none" in caplog.text


@pytest.mark.parametrize(("content_type", "empty"), [(PROTOBUF, b""), (JSON, b"{}")])
def test_the_answer_is_an_empty_success_and_the_connection_goes_on(running, content_type, empty):
    connection = running.connect()
    for path in ("/v1/metrics", "/v1/logs?x=1", "/v1/metrics"):
        body, headers = gzip.compress(b"x" * 9999), {"Content-Type": content_type, "Content-Encoding": "gzip"}
        connection.request("POST", path, body, headers)
        response = connection.getresponse()
        assert (response.status, response.headers["Content-Type"], response.read()) == (200, content_type, empty)
    connection.request("POST", "/v1/traces", payload(span(1)), {"Content-Type": PROTOBUF})
    assert connection.getresponse().status == 200
    connection.close()
    assert running.spans() == [span(1)]


def test_one_without_an_end_is_refused_and_not_said(start, caplog):
    running = start(request_bytes=1 << 10)
    answer = running.post(bytes(1 << 14), JSON, "/v1/metrics")
    assert answer.status == 400
    assert "1024 bytes" in orjson.loads(answer.body)["message"]
    assert caplog.records == []


def test_another_method_is_405(running):
    connection = running.connect()
    connection.request("GET", "/v1/metrics")
    assert connection.getresponse().status == 405
    connection.close()
