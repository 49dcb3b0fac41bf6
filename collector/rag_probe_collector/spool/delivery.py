"""One OTLP request as the spool takes it: checked, and indexed by trace without reading any attribute."""

import hashlib
import threading
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

_NO_TRACE: Final = bytes(16)
_NO_SPAN: Final = bytes(8)
_LATEST_INSTANT: Final = 2**63 - 1
"""SQLite's integers are signed; a span that claims to end after the year 2262 ends there."""

_one_at_a_time: Final = threading.Lock()
"""A hostile request takes thirty times its size once parsed, so only one is parsed at any moment. It costs no speed:
the parser holds the interpreter lock anyway."""


class MalformedRequestError(ValueError):
    """The bytes are no ExportTraceServiceRequest."""


@dataclass(frozen=True, slots=True)
class Extent:
    """What one delivery holds of one trace. Instants are Unix nanoseconds; None when no span carried any."""

    trace_id: bytes
    earliest: int | None
    latest: int | None
    spans: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One request, ready to be stored."""

    payload: bytes
    """ExportTraceServiceRequest in protobuf, byte for byte as received unless spans had to be rejected."""
    digest: bytes
    """SHA-256 of the payload: a request that a client sends again is the same delivery."""
    extents: tuple[Extent, ...]
    rejected: int
    """Spans left out because their trace id was not 16, or their span id not 8, bytes other than zeros."""


def examine(payload: bytes) -> Delivery:
    """Check and index one request in protobuf; raises MalformedRequestError, and then nothing of it counts."""
    with _one_at_a_time:
        payload, times, rejected = _index(payload)
    extents = tuple(_extent(trace_id, instants) for trace_id, instants in times.items())
    return Delivery(payload=payload, digest=hashlib.sha256(payload).digest(), extents=extents, rejected=rejected)


def merge(deliveries: Iterable[Delivery]) -> list[Extent]:
    """Return one extent per trace, as if all deliveries had come in one request."""
    by_trace: dict[bytes, Extent] = {}
    for extent in (extent for delivery in deliveries for extent in delivery.extents):
        known = by_trace.get(extent.trace_id)
        by_trace[extent.trace_id] = _joined(known, extent) if known else extent
    return list(by_trace.values())


def _index(payload: bytes) -> tuple[bytes, Mapping[bytes, list[int]], int]:
    """Return the payload without unusable spans, starts and ends by trace id, and how many spans were unusable."""
    try:
        request = ExportTraceServiceRequest.FromString(payload)
    except DecodeError as error:
        raise MalformedRequestError(f"not an ExportTraceServiceRequest in protobuf ({error})") from None
    times: defaultdict[bytes, list[int]] = defaultdict(list)
    rejected = 0
    for resource in request.resource_spans:
        for scope in resource.scope_spans:
            for span in scope.spans:
                if _has_ids(span):
                    times[span.trace_id] += (span.start_time_unix_nano, span.end_time_unix_nano)
                else:
                    rejected += 1
    return _without_unusable(request) if rejected else payload, times, rejected


def _has_ids(span: Span) -> bool:
    trace_id, span_id = span.trace_id, span.span_id
    return len(trace_id) == 16 and len(span_id) == 8 and trace_id != _NO_TRACE and span_id != _NO_SPAN


def _without_unusable(request: ExportTraceServiceRequest) -> bytes:
    for resource in request.resource_spans:
        for scope in resource.scope_spans:
            kept = [span for span in scope.spans if _has_ids(span)]
            del scope.spans[:]
            scope.spans.extend(kept)
    return request.SerializeToString()


def _extent(trace_id: bytes, instants: list[int]) -> Extent:
    earliest, latest = min(instants), max(instants)
    if not earliest:  # some are missing, since none happened in 1970
        earliest = min(filter(None, instants), default=None)
    bounds = (earliest and min(earliest, _LATEST_INSTANT), min(latest, _LATEST_INSTANT) or None)
    return Extent(trace_id, *bounds, len(instants) // 2)


def _joined(one: Extent, other: Extent) -> Extent:
    bounds = [bound for extent in (one, other) for bound in (extent.earliest, extent.latest) if bound is not None]
    return Extent(one.trace_id, min(bounds, default=None), max(bounds, default=None), one.spans + other.spans)
