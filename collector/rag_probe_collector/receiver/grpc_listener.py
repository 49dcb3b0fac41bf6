"""OTLP over gRPC."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, NoReturn, TypeAlias

import grpc

from rag_probe_collector.receiver.address import Address
from rag_probe_collector.receiver.inflate import PIECE, gathered, inflated
from rag_probe_collector.receiver.intake import Intake
from rag_probe_collector.receiver.limits import Limits
from rag_probe_collector.receiver.refusal import RefusalError, retry_info
from rag_probe_collector.receiver.unkept import Unkept

_Export: TypeAlias = Callable[[bytes, grpc.ServicerContext], bytes]

_SERVICE: Final = "opentelemetry.proto.collector.trace.v1.TraceService"
_PACKED: Final = (b"\x1f", b"\x78")
"""How gzip and zlib begin. Unpacked here, since older gRPC (1.80 for one) unpacks a bomb whole before it looks at its
size. No request in protobuf begins so: the first is no tag at all, the second that of a field which OTLP lacks."""
_CODES: Final = {int(code.value[0]): code for code in grpc.StatusCode}


class GrpcListener:
    """Listens from its construction until `stop`. Requests and answers stay bytes here, since the intake reads them."""

    def __init__(self, address: Address, intake: Intake, limits: Limits) -> None:
        """Bind and begin to accept calls; raises RuntimeError when the address cannot be had."""
        self._intake = intake
        self._limit = limits.request_bytes
        self._stop_seconds = limits.stop_seconds
        self._workers = ThreadPoolExecutor(limits.grpc_workers, thread_name_prefix="otlp-grpc")
        self._server = grpc.server(
            self._workers,
            options=[
                ("grpc.max_receive_message_length", limits.request_bytes),
                ("grpc.max_concurrent_streams", limits.grpc_workers * 4),
                ("grpc.per_message_decompression", 0),
                ("grpc.so_reuseport", 0),  # else a second collector would share the port, and each get half
            ],
        )
        services = [(_SERVICE, self._export), *((signal.service, self._drop(signal)) for signal in Unkept)]
        self._server.add_generic_rpc_handlers([_handler(name, export) for name, export in services])
        self.address = Address(address.host, self._server.add_insecure_port(str(address)))
        self._server.start()

    def stop(self) -> None:
        """Take no new request, and wait for those that have begun."""
        self._server.stop(self._stop_seconds).wait()
        self._workers.shutdown()

    def _export(self, body: bytes, context: grpc.ServicerContext) -> bytes:
        with self._intake.budget.lease() as lease:
            try:
                payload = gathered(_unpacked(body), self._limit, lease)
                return self._intake.accept(payload, lease).SerializeToString()
            except RefusalError as refusal:
                _abort(context, refusal)

    def _drop(self, signal: Unkept) -> _Export:
        def drop(_body: bytes, _context: grpc.ServicerContext) -> bytes:
            self._intake.dropping.note(signal)
            return b""  # in protobuf, what a success without remarks is

        return drop


def _handler(service: str, export: _Export) -> grpc.GenericRpcHandler:
    handler: grpc.RpcMethodHandler[bytes, bytes] = grpc.unary_unary_rpc_method_handler(export)
    return grpc.method_handlers_generic_handler(service, {"Export": handler})


def _unpacked(body: bytes) -> Iterable[bytes]:
    if body[:1] not in _PACKED:
        return (body,)
    return inflated(body[start : start + PIECE] for start in range(0, len(body), PIECE))


def _abort(context: grpc.ServicerContext, refusal: RefusalError) -> NoReturn:
    """End the call with the refusal's status, and the wait in both places where exporters look for it."""
    trailers: tuple[tuple[str, bytes], ...] = (("grpc-status-details-bin", refusal.status().SerializeToString()),)
    if refusal.retryable:
        trailers += (("google.rpc.retryinfo-bin", retry_info().SerializeToString()),)
    context.set_trailing_metadata(trailers)
    context.abort(_CODES[refusal.reason.grpc], refusal.message)
