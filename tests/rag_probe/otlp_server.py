"""The smallest receivers that the real exporters talk to."""

from __future__ import annotations

import gzip
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import grpc
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest, ExportLogsServiceResponse
from opentelemetry.proto.collector.logs.v1.logs_service_pb2_grpc import (
    LogsServiceServicer,
    add_LogsServiceServicer_to_server,
)
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
    ExportMetricsServiceResponse,
)
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2_grpc import (
    MetricsServiceServicer,
    add_MetricsServiceServicer_to_server,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2_grpc import (
    TraceServiceServicer,
    add_TraceServiceServicer_to_server,
)

REQUESTS = {
    "/v1/traces": ExportTraceServiceRequest,
    "/v1/metrics": ExportMetricsServiceRequest,
    "/v1/logs": ExportLogsServiceRequest,
}


@dataclass
class Received:
    """What arrived, and where to send."""

    endpoint: str = ""
    requests: list = field(default_factory=list)
    """Of spans."""
    headers: list = field(default_factory=list)
    bodies: list = field(default_factory=list)
    """Of every signal: the path and the bytes, inflated."""
    metric_requests: list = field(default_factory=list)

    def metrics(self):
        """The latest data points of every metric, by name."""
        return {
            metric.name: list((metric.sum if metric.HasField("sum") else metric.histogram).data_points)
            for request in self.metric_requests
            for resource in request.resource_metrics
            for scope in resource.scope_metrics
            for metric in scope.metrics
        }

    def take(self, path, body, request):
        """Note a request that has arrived."""
        self.bodies.append((path, body))
        if path.endswith("/traces"):
            self.requests.append(request)
        elif path.endswith("/metrics"):
            self.metric_requests.append(request)

    def spans(self):
        """Name and service of every span, in the order of arrival."""
        return [
            (span.name, service(resource.resource))
            for request in self.requests
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    def names(self):
        """The spans' names, sorted."""
        return sorted(name for name, _ in self.spans())


def service(resource):
    """The service's name."""
    return next((item.value.string_value for item in resource.attributes if item.key == "service.name"), None)


@contextmanager
def http_receiver():
    """OTLP/HTTP with protobuf or JSON, on a free port."""
    received = Received()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["content-length"]))
            if self.headers.get("content-encoding") == "gzip":
                body = gzip.decompress(body)
            received.headers.append(
                {"path": self.path, **{name.lower(): value for name, value in self.headers.items()}}
            )
            kind = REQUESTS[self.path]
            json = self.headers["content-type"].startswith("application/json")
            received.take(self.path, body, kind() if json else kind.FromString(body))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *args):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        received.endpoint = f"http://127.0.0.1:{server.server_port}"
        Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield received
        server.shutdown()


@contextmanager
def grpc_receiver():
    """OTLP/gRPC, on a free port."""
    received = Received()

    def serve(kind, path, response):
        class Service(kind):
            def Export(self, request, context):  # noqa: N802  # the service's own name
                received.headers.append(dict(context.invocation_metadata()))
                received.take(path, request.SerializeToString(), request)
                return response()

        return Service()

    server = grpc.server(ThreadPoolExecutor(2))
    for kind, add, path, response in (
        (TraceServiceServicer, add_TraceServiceServicer_to_server, "/v1/traces", ExportTraceServiceResponse),
        (MetricsServiceServicer, add_MetricsServiceServicer_to_server, "/v1/metrics", ExportMetricsServiceResponse),
        (LogsServiceServicer, add_LogsServiceServicer_to_server, "/v1/logs", ExportLogsServiceResponse),
    ):
        add(serve(kind, path, response), server)
    received.endpoint = f"http://127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    server.start()
    yield received
    server.stop(None).wait()
