"""The door: from the bytes of one request to the answer that says it is durable. Every listener ends here."""

import threading

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTracePartialSuccess,
    ExportTraceServiceResponse,
)

from rag_probe_collector.otlp.json import OtlpJsonError, parse_otlp_json
from rag_probe_collector.receiver.admission import ByteBudget, Lease
from rag_probe_collector.receiver.limits import Limits
from rag_probe_collector.receiver.refusal import Reason, RefusalError
from rag_probe_collector.receiver.unkept import Dropping
from rag_probe_collector.spool import Delivery, MalformedRequestError, SpoolError, SpoolWriter, examine


class Intake:
    """Checks requests, hands them to the spool and answers once they are durable. Safe to use from any thread."""

    def __init__(self, writer: SpoolWriter, limits: Limits) -> None:
        self._writer = writer
        self._commit_seconds = limits.commit_seconds
        self.budget = ByteBudget(limits.queued_bytes)
        """A listener takes a lease of it for each request and grows it by every byte that it receives."""
        self.dropping = Dropping()
        """For what is no spans."""
        self._one_json_at_a_time = threading.Lock()

    def accept(self, payload: bytes, lease: Lease) -> ExportTraceServiceResponse:
        """Store one ExportTraceServiceRequest in protobuf; raises RefusalError, and then nothing is acknowledged."""
        try:
            delivery = examine(payload)
        except MalformedRequestError as error:
            raise RefusalError(Reason.MALFORMED, str(error)) from None
        if delivery.extents:
            self._store(delivery, lease)
        return _answer(delivery)

    def accept_json(self, body: bytes, lease: Lease) -> ExportTraceServiceResponse:
        """Store one request in OTLP JSON, as `accept` does."""
        try:
            with self._one_json_at_a_time:  # parsed, a hostile body takes many times its size
                payload = parse_otlp_json(body).SerializeToString()
        except OtlpJsonError as error:
            raise RefusalError(Reason.MALFORMED, str(error)) from None
        return self.accept(payload, lease)

    def _store(self, delivery: Delivery, lease: Lease) -> None:
        try:
            stored = self._writer.submit(delivery)
            lease.keep_until(stored)
            stored.result(self._commit_seconds)
        except SpoolError as error:
            raise RefusalError(Reason.OVERLOADED, f"not stored: {error}") from None
        except TimeoutError:
            # It may still be stored; then the same request, sent again, is recognised.
            raise RefusalError(Reason.OVERLOADED, f"not stored within {self._commit_seconds} seconds") from None


def _answer(delivery: Delivery) -> ExportTraceServiceResponse:
    if not delivery.rejected:
        return ExportTraceServiceResponse()
    message = "expected a trace id of 16 and a span id of 8 bytes, not all of them zero; the other spans are stored"
    partial = ExportTracePartialSuccess(rejected_spans=delivery.rejected, error_message=message)
    return ExportTraceServiceResponse(partial_success=partial)
