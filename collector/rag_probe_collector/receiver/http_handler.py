"""One HTTP connection: its requests in turn, each with a deadline of its own."""

import io
import logging
import socket
from collections.abc import Mapping
from contextlib import AbstractContextManager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from socketserver import BaseServer
from types import MappingProxyType
from typing import Final, Protocol

from google.protobuf.empty_pb2 import Empty
from google.protobuf.message import Message
from google.rpc.code_pb2 import Code
from google.rpc.status_pb2 import Status

from rag_probe_collector.receiver.http_body import Body
from rag_probe_collector.receiver.http_codec import JSON, Codec, codec_of
from rag_probe_collector.receiver.intake import Intake
from rag_probe_collector.receiver.limits import Limits
from rag_probe_collector.receiver.refusal import RETRY_SECONDS, Reason, RefusalError
from rag_probe_collector.receiver.timed_stream import TimedStream
from rag_probe_collector.receiver.unkept import unkept_at

_logger: Final = logging.getLogger("rag_probe.collector")

_TRACES: Final = "/v1/traces"


class Connections(Protocol):
    """What a handler needs from the listener that owns its connection."""

    def busy(self, connection: socket.socket) -> AbstractContextManager[None]:
        """Mark a connection as being in the middle of a request."""
        ...

    @property
    def stopping(self) -> bool:
        """Whether no further request may begin."""
        ...


class OtlpHandler(BaseHTTPRequestHandler):
    """POST /v1/traces, a success for what nobody keeps, and a google.rpc.Status for everything else."""

    protocol_version = "HTTP/1.1"
    server_version = "rag-probe"
    sys_version = ""
    wbufsize = 1 << 16
    disable_nagle_algorithm = True

    def __init__(
        self,
        request: socket.socket,
        client_address: tuple[str, int],
        server: BaseServer,
        *,
        connections: Connections,
        intake: Intake,
        limits: Limits,
    ) -> None:
        """Serve the connection until it ends."""
        self._connections = connections
        self._intake = intake
        self._limits = limits
        super().__init__(request, client_address, server)

    def setup(self) -> None:
        """Replace the stream to read from by one with deadlines."""
        super().setup()
        self._stream = TimedStream(self.connection)
        self.rfile = self._reader = io.BufferedReader(self._stream, 1 << 16)

    def handle_one_request(self) -> None:
        """Wait for a request, then serve it; ends the connection silently when none comes or it breaks off."""
        self.close_connection = True
        try:
            self._stream.allow(self._limits.idle_seconds)
            if self._connections.stopping or not self._reader.peek(1):
                return
            self._stream.allow(self._limits.request_seconds)
            with self._connections.busy(self.connection):
                super().handle_one_request()
        except OSError as error:
            self.close_connection = True
            _logger.debug("connection from %s ended: %s", self.client_address, error)

    def do_POST(self) -> None:
        """Receive spans; the answer comes after they are durable."""
        codec = codec_of(self.headers.get("Content-Type"))
        body = None
        try:
            body = Body(self.headers, self._reader)
            answer = self._accept(codec, body)
        except RefusalError as refusal:
            if body is None or not body.drain(self._limits.request_bytes):
                self.close_connection = True  # where the next request would begin is unknown
            self._refuse(codec, refusal)
        else:
            self._answer(HTTPStatus.OK, codec, answer)

    @property
    def _path(self) -> str:
        return self.path.partition("?")[0]

    def _accept(self, codec: Codec | None, body: Body) -> Message:
        unkept = unkept_at(self._path)
        if unkept is None and self._path != _TRACES:
            raise RefusalError(Reason.UNKNOWN_PATH, f"expected {_TRACES}: traces are all that is kept here")
        if codec is None:
            raise RefusalError(Reason.UNKNOWN_TYPE, "expected Content-Type application/x-protobuf or application/json")
        if unkept is not None:
            if not body.drain(limit := self._limits.request_bytes):
                raise RefusalError(Reason.MALFORMED, f"expected a body that ends within {limit} bytes")
            self._intake.dropping.note(unkept)
            return Empty()
        with self._intake.budget.lease() as lease:
            return codec.accept(self._intake, body.read(self._limits.request_bytes, lease), lease)

    def _refuse(self, codec: Codec | None, refusal: RefusalError) -> None:
        headers: dict[str, str] = {}
        if refusal.retryable:
            headers["Retry-After"] = str(RETRY_SECONDS)
        if refusal.reason is Reason.WRONG_METHOD:
            headers["Allow"] = "POST"
        self._answer(refusal.reason.http, codec, refusal.status(), headers)

    def _answer(
        self,
        status: HTTPStatus,
        codec: Codec | None,
        message: Message,
        headers: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        codec = codec or JSON
        content = codec.write(message)
        if self._connections.stopping:
            self.close_connection = True
        self.connection.settimeout(self._limits.request_seconds)
        self.send_response(status)
        self.send_header("Content-Type", codec.content_type)
        self.send_header("Content-Length", str(len(content)))
        for name, value in headers.items():
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer what the base class finds wrong (request line, headers, method) as everything else is answered."""
        self.close_connection = True  # a body that may follow is not read
        if code == HTTPStatus.NOT_IMPLEMENTED:  # a method without a do_METHOD here
            known = self._path == _TRACES or unkept_at(self._path) is not None
            reason = Reason.WRONG_METHOD if known else Reason.UNKNOWN_PATH
            self._refuse(codec_of(self.headers.get("Content-Type")), RefusalError(reason, f"expected POST {_TRACES}"))
        else:
            status = HTTPStatus(code)
            self._answer(status, None, Status(code=Code.INVALID_ARGUMENT, message=message or explain or status.phrase))

    def handle_expect_100(self) -> bool:
        """Tell a client that waits for it to send its body, at once."""
        going_on = super().handle_expect_100()
        self.wfile.flush()
        return going_on

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Keep requests out of the terminal."""
        _logger.debug(format, *args)
