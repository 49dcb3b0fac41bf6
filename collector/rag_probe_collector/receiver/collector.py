"""The running collector: one spool, one intake, one listener for each protocol."""

import contextlib
import os
import socket
from collections.abc import Generator
from pathlib import Path
from typing import Final, Self

from rag_probe_collector.errors import InputError
from rag_probe_collector.receiver.address import Address
from rag_probe_collector.receiver.grpc_listener import GrpcListener
from rag_probe_collector.receiver.http_listener import HttpListener
from rag_probe_collector.receiver.intake import Intake
from rag_probe_collector.receiver.limits import Limits
from rag_probe_collector.spool import SpoolWriter

ANY_PORT: Final = Address("127.0.0.1", 0)


class Collector:
    """Receives OTLP traces into a spool, from its construction until `stop`. Use it as a context manager."""

    def __init__(
        self, db: Path, *, grpc: Address = ANY_PORT, http: Address = ANY_PORT, limits: Limits | None = None
    ) -> None:
        """Open the spool and listen; raises InputError when the file or an address cannot be used."""
        limits = limits or Limits()
        with contextlib.ExitStack() as undo:
            writer = SpoolWriter(db)
            undo.callback(writer.close)
            intake = Intake(writer, limits)
            with _explained("otlp/grpc", grpc):
                _probe(grpc)
                grpc_listener = GrpcListener(grpc, intake, limits)
            undo.callback(grpc_listener.stop)
            with _explained("otlp/http", http):
                http_listener = HttpListener(http, intake, limits)
            undo.callback(http_listener.stop)
            self.intake = intake
            self.grpc_address = grpc_listener.address
            self.http_address = http_listener.address
            self._undo = undo.pop_all()

    def stop(self) -> None:
        """Take nothing new, commit what has been received, close the spool. Stopping twice is no error."""
        self._undo.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


@contextlib.contextmanager
def _explained(protocol: str, address: Address) -> Generator[None]:
    try:
        yield
    except (OSError, RuntimeError, UnicodeError) as error:
        reason = _reason(error)
        raise InputError(f"cannot listen for {protocol} on {address} ({reason}); choose another address") from None


def _reason(error: Exception) -> str:
    """Return the system's own words, without the address that some calls add to them."""
    match error:
        case OSError(errno=int(number)) if number > 0:
            return os.strerror(number)
        case OSError(strerror=str(words)):
            return words
        case _:
            return str(error)


def _probe(address: Address) -> None:
    """Bind once and let go: gRPC itself says only that it failed, and writes the reason to stderr."""
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    socket.create_server((address.host, address.port), family=family).close()
