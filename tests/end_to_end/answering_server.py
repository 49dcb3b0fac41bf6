"""The security assistant behind a real HTTP server: `python -m tests.end_to_end.answering_server`.

Prints its port, answers one request, sends its spans and ends. The case is known from the request's headers alone.
"""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler, HTTPServer

from opentelemetry import trace
from opentelemetry.context import attach, detach
from opentelemetry.propagate import extract

from rag_probe import configure
from rag_probe_demo.models import chat_model
from rag_probe_demo.security import Caller, SecurityAssistant
from rag_probe_langchain import RagProbeCallbackHandler

ASSISTANT = SecurityAssistant(chat_model(None), Caller(subject="ada", tenant="northwind", role="analyst")).chain()


class Handler(BaseHTTPRequestHandler):
    """A question in the body, its answer back."""

    def do_POST(self) -> None:
        question = self.rfile.read(int(self.headers["Content-Length"])).decode()
        token = attach(extract(self.headers))
        with trace.get_tracer("server").start_as_current_span("POST /ask", kind=trace.SpanKind.SERVER):
            answer = ASSISTANT.invoke({"question": question}, {"callbacks": [RagProbeCallbackHandler()]})
        detach(token)
        body = answer.encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it so
        """Say nothing."""


def main() -> None:
    telemetry = configure(service_name="answering-server")
    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        server.timeout = 300
        print(server.server_port, flush=True)
        server.handle_request()
    telemetry.shutdown(100)


if __name__ == "__main__":
    main()
