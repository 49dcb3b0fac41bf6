"""Where the messages of a file begin and end: JSON lines, one JSON document, or protobuf with lengths or whole.

Told by content, never by name. Source: the Collector's file and S3 exporters (`format: proto` and zstd write a 4-byte
big-endian length before each message; an S3 object is one message).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Final

import orjson

MAX_MESSAGE: Final = 256 * 1024 * 1024
"""Longest line, document or message that is read."""
_PREFIX: Final = 4
_WHITESPACE: Final = b" \t\r\n"
_PEEK: Final = 4096
_PROTOBUF: Final = b"\x0a"
"""The tag of `resource_spans`; as the first byte of a length it would announce 160 MiB."""


class FrameError(ValueError):
    """What comes cannot be read; the message says what is wrong."""


class ForeignFileError(FrameError):
    """Not a file of telemetry, by its first bytes."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One message of a file."""

    label: str
    """`line 3`, `message 3`; empty for a file that is one message."""
    offset: int
    length: int
    ended: bool | None = True
    """Whether all of it is there; None: nothing follows it, not even a line end, so that nobody knows."""


def frames(file: IO[bytes]) -> Iterator[Frame]:
    """The messages of `file`, in order; raises FrameError at the first that cannot be one."""
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    head = file.read(_PEEK)
    if not head.strip(_WHITESPACE):
        return iter(())
    if head.lstrip(_WHITESPACE).startswith(b"{"):
        return _json(file, size)
    if head.startswith(_PROTOBUF):
        return _whole(size)
    return _prefixed(file, size)


def _json(file: IO[bytes], size: int) -> Iterator[Frame]:
    file.seek(0)
    first = next((line for line in iter(lambda: file.readline(MAX_MESSAGE + 1), b"") if line.strip()), b"")
    try:
        orjson.loads(first)
    except orjson.JSONDecodeError:
        if size > file.tell():
            return _whole(size)
    return _lines(file)


def _whole(size: int) -> Iterator[Frame]:
    if size > MAX_MESSAGE:
        raise FrameError(f"one message of {size:,} bytes; at most {MAX_MESSAGE:,} are read: split it by lines")
    return iter((Frame("", 0, size),))


def _lines(file: IO[bytes]) -> Iterator[Frame]:
    offset = 0
    file.seek(0)
    for number, line in enumerate(iter(lambda: file.readline(MAX_MESSAGE + 1), b""), 1):
        if len(line) > MAX_MESSAGE:
            raise FrameError(f"line {number} is longer than {MAX_MESSAGE:,} bytes")
        if line.strip():
            yield Frame(f"line {number}", offset, len(line), True if line.endswith(b"\n") else None)
        offset += len(line)
        file.seek(offset)


def _prefixed(file: IO[bytes], size: int) -> Iterator[Frame]:
    offset, number = 0, 0
    while offset < size:
        number += 1
        file.seek(offset)
        prefix = file.read(_PREFIX)
        length = int.from_bytes(prefix, "big")
        offset += len(prefix)
        if length > MAX_MESSAGE:
            if number == 1:
                raise ForeignFileError("neither OTLP JSON nor protobuf")
            raise FrameError(f"message {number} announces {length:,} bytes; at most {MAX_MESSAGE:,} are read")
        there = min(length, size - offset)
        yield Frame(f"message {number}", offset, there, len(prefix) == _PREFIX and there == length)
        offset += there
