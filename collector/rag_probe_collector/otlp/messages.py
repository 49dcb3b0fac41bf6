"""One message as it lies in a file → an ExportTraceServiceRequest in protobuf."""

from __future__ import annotations

from typing import Final

import zstandard

from rag_probe_collector.otlp.frames import MAX_MESSAGE
from rag_probe_collector.otlp.json import OtlpJsonError, parse_otlp_json
from rag_probe_collector.otlp.plain import ZSTD_MAGIC

_OPENING: Final = b"{"


class MessageError(ValueError):
    """No OTLP message; says what was expected."""


def to_protobuf(message: bytes) -> bytes:
    """JSON is translated, a message that was compressed by itself is unpacked, protobuf stays as it is.

    Raises MessageError; protobuf itself is not checked here.
    """
    if message.startswith(ZSTD_MAGIC):
        message = _unpacked(message)
    if not message.lstrip().startswith(_OPENING):
        return message
    try:
        return parse_otlp_json(message).SerializeToString()
    except OtlpJsonError as error:
        raise MessageError(str(error)) from None


def _unpacked(message: bytes) -> bytes:
    try:
        with zstandard.ZstdDecompressor().stream_reader(message, read_across_frames=True) as reader:
            plain = reader.read(MAX_MESSAGE + 1)
    except zstandard.ZstdError as error:
        raise MessageError(f"expected a zstd frame ({error})") from None
    if len(plain) > MAX_MESSAGE:
        raise MessageError(f"decompresses to more than {MAX_MESSAGE:,} bytes")
    return plain
