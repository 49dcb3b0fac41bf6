"""The body of an HTTP request: measured or chunked, plain or compressed, and never more in memory than is allowed."""

import contextlib
from collections.abc import Iterator
from email.message import Message
from typing import BinaryIO, Final

from rag_probe_collector.receiver.admission import Lease
from rag_probe_collector.receiver.inflate import PIECE, gathered, inflated, too_large
from rag_probe_collector.receiver.refusal import Reason, RefusalError

_LINE: Final = 1024
"""Longest chunk header or trailer line."""
_HEX: Final = frozenset(b"0123456789abcdefABCDEF")


class Body:
    """One request's body, read at most once. A connection that ends within it raises ConnectionError."""

    def __init__(self, headers: "Message[str, str]", stream: BinaryIO) -> None:
        """Find out how the body is delimited; raises RefusalError when that is unclear, and then nothing is read."""
        self._compressed = (headers.get("Content-Encoding") or "identity").strip().lower()
        encodings = [value.strip().lower() for value in headers.get_all("Transfer-Encoding", [])]
        lengths = {value.strip() for value in headers.get_all("Content-Length", [])}
        if encodings:
            if encodings != ["chunked"] or lengths:
                raise RefusalError(Reason.MALFORMED, "expected Transfer-Encoding: chunked alone, or Content-Length")
            self._length = None
            self._pieces = self._to_its_end(_chunked(stream))
        else:
            self._length = _length(lengths)
            self._pieces = self._to_its_end(_measured(stream, self._length))
        self._ended = False

    def read(self, limit: int, lease: Lease) -> bytes:
        """Return the body, decompressed; raises RefusalError as soon as it proves larger than `limit`."""
        if self._length is not None and self._length > limit:
            raise too_large(limit)
        match self._compressed:
            case "identity":
                pieces = self._pieces
            case "gzip" | "deflate":
                pieces = inflated(self._pieces)
            case _:
                raise RefusalError(Reason.UNKNOWN_TYPE, "expected Content-Encoding gzip, deflate or none")
        return gathered(pieces, limit, lease)

    def drain(self, limit: int) -> bool:
        """Read and forget the rest, so that the client comes to read the answer; False when its end was not found."""
        with contextlib.suppress(RefusalError):
            for piece in self._pieces:
                limit -= len(piece)
                if limit < 0:
                    break
        return self._ended

    def _to_its_end(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        yield from pieces
        self._ended = True


def _length(values: set[str]) -> int:
    match sorted(values):
        case []:
            return 0
        case [value] if value.isascii() and value.isdigit() and len(value) < 19:
            return int(value)
        case _:
            raise RefusalError(Reason.MALFORMED, "expected one Content-Length, a number of bytes")


def _measured(stream: BinaryIO, length: int) -> Iterator[bytes]:
    while length:
        piece = stream.read(min(length, PIECE))
        if not piece:
            raise ConnectionError("the request ended within its body")
        length -= len(piece)
        yield piece


def _chunked(stream: BinaryIO) -> Iterator[bytes]:
    """Source: RFC 9112, section 7.1. Extensions and trailers are read and ignored."""
    while size := _chunk_size(_line(stream)):
        yield from _measured(stream, size)
        if _line(stream):
            raise RefusalError(Reason.MALFORMED, "expected the end of a chunk where more of it came")
    for _ in range(100):
        if not _line(stream):
            return
    raise RefusalError(Reason.MALFORMED, "expected at most 100 trailers")


def _chunk_size(line: bytes) -> int:
    digits = line.partition(b";")[0].strip()
    if not digits or len(digits) > 15 or not _HEX.issuperset(digits):
        raise RefusalError(Reason.MALFORMED, "expected the size of a chunk in hexadecimal")
    return int(digits, 16)


def _line(stream: BinaryIO) -> bytes:
    line = stream.readline(_LINE)
    if not line.endswith(b"\n"):
        if len(line) == _LINE:
            raise RefusalError(Reason.MALFORMED, f"expected chunk lines below {_LINE} bytes")
        raise ConnectionError("the request ended within its body")
    return line.rstrip(b"\r\n")
