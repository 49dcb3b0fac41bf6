"""Files as seekable bytes, decompressed when their first bytes say that they are compressed."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO, Final, cast

import zstandard

from rag_probe.protocols import SourceError

GZIP_MAGIC: Final = b"\x1f\x8b"
ZSTD_MAGIC: Final = b"\x28\xb5\x2f\xfd"

_IN_MEMORY: Final = 32 * 1024 * 1024
"""Decompressed files up to this size stay in memory; larger ones take temporary disk space."""
_RATIO: Final = 400
_ALLOWANCE: Final = 64 * 1024 * 1024
"""A file may grow to this plus `_RATIO` times its size: telemetry compresses 10 to 60 times, a bomb 1,000 times."""
_CHUNK: Final = 1024 * 1024


def open_plain(path: Path) -> tuple[IO[bytes], bool]:
    """The decompressed bytes, and whether they are whole: a compressed file that breaks off ends where it does.

    The caller closes the file. Raises SourceError when it cannot be read or decompresses to far too much.
    """
    try:
        file = path.open("rb")
        magic = file.read(4)
        file.seek(0)
    except OSError as error:
        raise SourceError(f"{path}: cannot be read ({error.strerror})") from None
    if magic.startswith(GZIP_MAGIC):
        with file, gzip.GzipFile(fileobj=file) as stream:
            return _decompressed(path, cast("IO[bytes]", stream))
    if magic == ZSTD_MAGIC:
        with file, zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True) as stream:
            return _decompressed(path, cast("IO[bytes]", stream))
    return file, True


def _decompressed(path: Path, stream: IO[bytes]) -> tuple[IO[bytes], bool]:
    plain = SpooledTemporaryFile[bytes](max_size=_IN_MEMORY)
    try:
        whole = _copy(path, stream, plain)
    except BaseException:
        plain.close()
        raise
    plain.seek(0)
    return cast("IO[bytes]", plain), whole


def _copy(path: Path, stream: IO[bytes], plain: SpooledTemporaryFile[bytes]) -> bool:
    limit = _ALLOWANCE + _RATIO * path.stat().st_size
    try:
        while part := stream.read(_CHUNK):
            plain.write(part)
            if plain.tell() > limit:
                raise SourceError(f"{path}: grows beyond {limit:,} bytes; decompress it yourself first")
    except (EOFError, zlib.error, gzip.BadGzipFile, zstandard.ZstdError):
        return False
    return True
