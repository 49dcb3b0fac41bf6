"""Where a listener listens."""

import ipaddress
from dataclasses import dataclass
from typing import Self

from rag_probe_collector.errors import InputError


@dataclass(frozen=True, slots=True)
class Address:
    """A host and a port; port 0 asks for any free one."""

    host: str
    port: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `HOST:PORT` or `[IPV6]:PORT`; raises InputError."""
        host, colon, port = text.rpartition(":")
        bracketed = host.startswith("[") and host.endswith("]")
        host = host[1:-1] if bracketed else host
        if not (colon and host and port.isascii() and port.isdigit() and int(port) < 65536):
            raise InputError(f"address {text!r}: expected HOST:PORT, such as 127.0.0.1:4317")
        if (":" in host) != bracketed:
            raise InputError(f"address {text!r}: expected an IPv6 address in brackets, such as [::1]:4317")
        return cls(host, int(port))

    @property
    def is_loopback(self) -> bool:
        """Whether only programs on this machine can connect; a name other than localhost may lead anywhere."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"
