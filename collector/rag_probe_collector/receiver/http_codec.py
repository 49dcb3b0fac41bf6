"""The two encodings of OTLP over HTTP, told apart by Content-Type on one port."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import orjson
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from rag_probe_collector.receiver.admission import Lease
from rag_probe_collector.receiver.intake import Intake


@dataclass(frozen=True, slots=True)
class Codec:
    """How one content type is read and how answers to it are written."""

    content_type: str
    accept: Callable[[Intake, bytes, Lease], ExportTraceServiceResponse]
    write: Callable[[Message], bytes]


def _json(message: Message) -> bytes:
    return orjson.dumps(MessageToDict(message))


def _protobuf(message: Message) -> bytes:
    return message.SerializeToString()


PROTOBUF: Final = Codec("application/x-protobuf", Intake.accept, _protobuf)
JSON: Final = Codec("application/json", Intake.accept_json, _json)


def codec_of(content_type: str | None) -> Codec | None:
    """Return the codec of a Content-Type header, whose parameters (charset) say nothing that matters here."""
    media_type = (content_type or "").partition(";")[0].strip().lower()
    return next((codec for codec in (PROTOBUF, JSON) if codec.content_type == media_type), None)
