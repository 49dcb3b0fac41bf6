"""Unpacking what a client sends, without ever holding more of it than is allowed: a zip bomb ends at the limit."""

import zlib
from collections.abc import Iterable, Iterator
from typing import Final

from rag_probe_collector.receiver.admission import Lease
from rag_probe_collector.receiver.refusal import Reason, RefusalError

PIECE: Final = 1 << 20
"""Most bytes that are read or unpacked at a time."""

_GZIP_OR_ZLIB: Final = 32 + zlib.MAX_WBITS
"""`deflate`, of HTTP and of gRPC, is the zlib format; its header tells it from gzip."""


def inflated(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Unpack, also of several members, in pieces of bounded size whatever the input promises."""
    member = zlib.decompressobj(_GZIP_OR_ZLIB)
    begun = False
    try:
        for piece in pieces:
            rest, output, begun = piece, b"", True
            # A full piece of output may mean that more is ready although all input was taken.
            while rest or (len(output) == PIECE and not member.eof):
                if member.eof:
                    member = zlib.decompressobj(_GZIP_OR_ZLIB)
                output = member.decompress(rest, PIECE)
                yield output
                rest = member.unused_data if member.eof else member.unconsumed_tail
    except zlib.error as error:
        raise RefusalError(Reason.MALFORMED, f"expected gzip or deflate ({error})") from None
    if begun and not member.eof:
        raise RefusalError(Reason.MALFORMED, "expected the end of the compressed stream, which is missing")


def gathered(pieces: Iterable[bytes], limit: int, lease: Lease) -> bytes:
    """Return all pieces as one, held by the lease; raises RefusalError as soon as they exceed limit or budget."""
    kept: list[bytes] = []
    size = 0
    for piece in pieces:
        size += len(piece)
        if size > limit:
            raise too_large(limit)
        lease.grow(len(piece))
        kept.append(piece)
    return b"".join(kept)


def too_large(limit: int) -> RefusalError:
    """Return the refusal of a request that is larger than `limit`."""
    return RefusalError(Reason.TOO_LARGE, f"expected at most {limit} bytes in one request, after decompression")
