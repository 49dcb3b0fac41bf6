"""OTLP over HTTP/1.1: a thread per connection, and a bound on connections."""

import contextlib
import logging
import socket
import socketserver
import threading
from collections.abc import Generator, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Final

from rag_probe_collector.receiver.address import Address
from rag_probe_collector.receiver.http_handler import OtlpHandler
from rag_probe_collector.receiver.intake import Intake
from rag_probe_collector.receiver.limits import Limits
from rag_probe_collector.receiver.refusal import RETRY_SECONDS

_logger: Final = logging.getLogger("rag_probe.collector")

_TOO_MANY: Final = (
    f"HTTP/1.1 503 Service Unavailable\r\nRetry-After: {RETRY_SECONDS}\r\n"
    "Connection: close\r\nContent-Length: 0\r\n\r\n"
).encode()


class HttpListener(socketserver.TCPServer):
    """Listens from its construction until `stop`."""

    allow_reuse_address = True
    request_queue_size = 128

    def __init__(self, address: Address, intake: Intake, limits: Limits) -> None:
        """Bind and begin to accept connections; raises OSError when the address cannot be had."""
        self.address_family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
        handler = partial(OtlpHandler, connections=self, intake=intake, limits=limits)
        super().__init__((address.host, address.port), handler)
        self.address = Address(address.host, self.server_address[1])
        self.stopping = False
        self._stop_seconds = limits.stop_seconds
        self._most_connections = limits.http_connections
        self._busy: dict[socket.socket, bool] = {}
        """Every open connection, and whether it is in the middle of a request."""
        self._changed = threading.Condition()
        self._workers = ThreadPoolExecutor(limits.http_connections, thread_name_prefix="otlp-http")
        threading.Thread(target=self.serve_forever, args=(0.05,), name="otlp-http", daemon=True).start()

    def stop(self) -> None:
        """Take no new request, wait for those that have begun, and end what is left."""
        self.shutdown()
        self.server_close()
        with self._changed:
            self.stopping = True
            _end(connection for connection, busy in self._busy.items() if not busy)
            self._changed.wait_for(lambda: not any(self._busy.values()), self._stop_seconds)
            _end(self._busy)
        self._workers.shutdown()

    @contextmanager
    def busy(self, connection: socket.socket) -> Generator[None]:
        """Mark a connection as being in the middle of a request, for `stop` to wait for."""
        self._mark(connection, busy=True)
        try:
            yield
        finally:
            self._mark(connection, busy=False)

    def process_request(self, request: socket.socket, client_address: tuple[str, int]) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Serve a connection in a thread of its own, or turn it away."""
        with self._changed:
            full = len(self._busy) >= self._most_connections
            if not full:
                self._busy[request] = False
        if full:
            _turn_away(request)
            self.shutdown_request(request)
        else:
            self._workers.submit(self._serve, request, client_address)

    def _serve(self, connection: socket.socket, peer: tuple[str, int]) -> None:
        try:
            self.finish_request(connection, peer)
        except Exception:
            _logger.exception("a connection from %s ended in an error; its client sends again", peer)
        finally:
            with self._changed:
                del self._busy[connection]
                self._changed.notify_all()
            self.shutdown_request(connection)

    def _mark(self, connection: socket.socket, *, busy: bool) -> None:
        with self._changed:
            self._busy[connection] = busy
            self._changed.notify_all()


def _turn_away(connection: socket.socket) -> None:
    connection.setblocking(False)
    with contextlib.suppress(OSError):  # it is gone already
        connection.send(_TOO_MANY)


def _end(connections: Iterable[socket.socket]) -> None:
    for connection in connections:
        with contextlib.suppress(OSError):  # it has ended by itself
            connection.shutdown(socket.SHUT_RDWR)
