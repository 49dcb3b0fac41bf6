"""A port to which something comes back: nobody else on this machine is given it while nothing listens there."""

import socket
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager


@contextmanager
def reserved_port() -> Iterator[int]:
    """One of 127.0.0.1, for whoever binds it with SO_REUSEADDR, as every server of ours does, within the block."""
    with closing(socket.socket()) as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        holder.bind(("127.0.0.1", 0))
        port = holder.getsockname()[1]
        if sys.platform != "linux":  # elsewhere the holder would keep it from everybody
            holder.close()
        yield port
