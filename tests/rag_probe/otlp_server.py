"""The smallest receivers that the real exporters talk to."""

from __future__ import annotations

import gzip
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import grpc
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2_grpc import (
    TraceServiceServicer,
    add_TraceServiceServicer_to_server,
)


@dataclass
class Received:
    """What arrived, and where to send."""

    endpoint: str = ""
    requests: list = field(default_factory=list)
    headers: list = field(default_factory=list)

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
    """OTLP/HTTP with protobuf, on a free port."""
    received = Received()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["content-length"]))
            if self.headers.get("content-encoding") == "gzip":
                body = gzip.decompress(body)
            received.headers.append(
                {"path": self.path, **{name.lower(): value for name, value in self.headers.items()}}
            )
            received.requests.append(ExportTraceServiceRequest.FromString(body))
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

    class Service(TraceServiceServicer):
        def Export(self, request, context):  # noqa: N802  # the service's own name
            received.headers.append(dict(context.invocation_metadata()))
            received.requests.append(request)
            return ExportTraceServiceResponse()

    server = grpc.server(ThreadPoolExecutor(2))
    add_TraceServiceServicer_to_server(Service(), server)
    received.endpoint = f"http://127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    server.start()
    yield received
    server.stop(None).wait()
