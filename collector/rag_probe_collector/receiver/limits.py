"""Every bound of the receiver in one place."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one collector takes on at once; beyond it, clients are told to wait or to send less."""

    request_bytes: int = 64 << 20
    """Largest request, also after decompression (the size that the OTLP specification recommends)."""
    queued_bytes: int = 256 << 20
    """All requests that are being received or wait to be written."""
    commit_seconds: float = 5.0
    """How long a client waits for its request to become durable before it is asked to send it again."""
    grpc_workers: int = 32
    """Requests over gRPC that wait for their commit at once; further ones wait in their connections."""
    http_connections: int = 128
    """Open HTTP connections; a further one is refused with 503."""
    request_seconds: float = 30.0
    """From the first byte of an HTTP request to its last, and for its answer to be taken."""
    idle_seconds: float = 120.0
    """How long an HTTP connection may stay open without a request."""
    stop_seconds: float = 5.0
    """How long a stopping collector waits for requests that it has begun to receive."""
