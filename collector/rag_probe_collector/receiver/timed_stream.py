"""Reading from a socket until an instant, however slowly the bytes drip in."""

import io
import math
import socket
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


class TimedStream(io.RawIOBase):
    """The receiving side of a socket. A socket's own timeout starts anew with each byte; this one does not."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._deadline = math.inf

    def allow(self, seconds: float) -> None:
        """Let reads go on for so long from now; after that they raise TimeoutError."""
        self._deadline = time.monotonic() + seconds

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        """Receive what is there, waiting for the first byte until the deadline; 0 at the end of the stream."""
        remaining = self._deadline - time.monotonic()
        if remaining <= 0:
            raise TimeoutError
        self._connection.settimeout(remaining)
        return self._connection.recv_into(buffer)
