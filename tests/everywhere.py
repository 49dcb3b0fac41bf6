"""Every exporter and every signal at once, and the bytes that came out of them."""

from __future__ import annotations

import io
import logging
import warnings
from contextlib import contextmanager

from opentelemetry.exporter.otlp.json.http._log_exporter import OTLPLogExporter as JsonLogs
from opentelemetry.exporter.otlp.json.http.metric_exporter import OTLPMetricExporter as JsonMetrics
from opentelemetry.exporter.otlp.json.http.trace_exporter import OTLPSpanExporter as JsonSpans
from opentelemetry.exporter.otlp.proto.grpc._log_exporter import OTLPLogExporter as GrpcLogs
from opentelemetry.exporter.otlp.proto.grpc.metric_exporter import OTLPMetricExporter as GrpcMetrics
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcSpans
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter as HttpLogs
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter as HttpMetrics
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpSpans
from opentelemetry.sdk._logs import LoggerProvider, LoggingHandler
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor, ConsoleLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import (
    ConsoleMetricExporter,
    InMemoryMetricReader,
    PeriodicExportingMetricReader,
)
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, ConsoleSpanExporter, SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from tests.rag_probe.otlp_server import grpc_receiver, http_receiver


class Everywhere:
    """Providers of all three signals, each with every exporter; our own log at DEBUG goes out as logs too."""

    def __init__(self, http, json, grpc):
        self._received = (http, json, grpc)
        self._console = io.StringIO()
        self._spans = InMemorySpanExporter()
        self._reader = InMemoryMetricReader()
        at = {
            "http": {"endpoint": http.endpoint, "compression": Compression.Gzip},
            "json": {"endpoint": json.endpoint},
            "grpc": {"endpoint": grpc.endpoint, "insecure": True},
        }
        spans = (
            HttpSpans(**_path(at["http"], "traces")),
            JsonSpans(**_path(at["json"], "traces")),
            GrpcSpans(**at["grpc"]),
        )
        self.tracer_provider = TracerProvider(shutdown_on_exit=False)
        for exporter in spans:
            self.tracer_provider.add_span_processor(BatchSpanProcessor(exporter))
        for exporter in (self._spans, ConsoleSpanExporter(out=self._console)):
            self.tracer_provider.add_span_processor(SimpleSpanProcessor(exporter))
        figures = (
            HttpMetrics(**_path(at["http"], "metrics")),
            JsonMetrics(**_path(at["json"], "metrics")),
            GrpcMetrics(**at["grpc"]),
            ConsoleMetricExporter(out=self._console),
        )
        readers = [PeriodicExportingMetricReader(exporter, float("inf")) for exporter in figures]
        self.meter_provider = MeterProvider([*readers, self._reader], shutdown_on_exit=False)
        self.logger_provider = LoggerProvider(shutdown_on_exit=False)
        logs = (HttpLogs(**_path(at["http"], "logs")), JsonLogs(**_path(at["json"], "logs")), GrpcLogs(**at["grpc"]))
        for exporter in logs:
            self.logger_provider.add_log_record_processor(BatchLogRecordProcessor(exporter))
        console = ConsoleLogRecordExporter(out=self._console)
        self.logger_provider.add_log_record_processor(SimpleLogRecordProcessor(console))

    def flush(self):
        """Send all."""
        assert self.tracer_provider.force_flush()
        assert self.meter_provider.force_flush()
        assert self.logger_provider.force_flush()

    def outputs(self):
        """What came out, by exporter and signal: bytes as sent, after inflating."""
        yield "console", self._console.getvalue().encode()
        yield "in memory spans", "".join(span.to_json() for span in self._spans.get_finished_spans()).encode()
        data = self._reader.get_metrics_data()
        yield "in memory metrics", (data.to_json() if data else "").encode()
        for word, received in zip(("http", "json", "grpc"), self._received, strict=True):
            for path, body in received.bodies:
                yield f"{word} {path}", body

    def close(self):
        """Stop all threads."""
        self.tracer_provider.shutdown()
        self.meter_provider.shutdown()
        self.logger_provider.shutdown()


def _path(settings, signal):
    return {**settings, "endpoint": f"{settings['endpoint']}/v1/{signal}"}


@contextmanager
def everywhere():
    """Receivers, providers and a handler on our log."""
    with http_receiver() as http, http_receiver() as json, grpc_receiver() as grpc:
        out = Everywhere(http, json, grpc)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            handler = LoggingHandler(logging.DEBUG, out.logger_provider)
        ours = logging.getLogger("rag_probe")
        level = ours.level
        ours.addHandler(handler)
        ours.setLevel(logging.DEBUG)
        try:
            yield out
        finally:
            ours.removeHandler(handler)
            ours.setLevel(level)
            out.close()
