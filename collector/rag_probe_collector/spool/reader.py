"""Reading a spool, by trace or by time, also while a collector writes to it."""

import re
import sqlite3
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self, cast

from zstandard import ZstdDecompressor, ZstdError, frame_content_size

from rag_probe_collector.errors import InputError
from rag_probe_collector.spool.file import open_for_reading
from rag_probe_collector.spool.schema import SpoolError

_LARGEST_BATCH: Final = 1 << 30
"""A file may lie about what a batch unpacks to; no receiver accepts a request of this size."""

_TRACE_ID: Final = re.compile("[0-9a-fA-F]{32}")

# Static text, and no ORDER BY: so that each is answered from an index alone, without touching a body.
_BATCHES_AT: Final = """SELECT id FROM batch
    WHERE (:since IS NULL OR latest >= :since) AND (:until IS NULL OR earliest <= :until)"""
_BATCHES_OF: Final = """SELECT batch FROM trace WHERE trace_id = :trace_id
    AND (:since IS NULL OR latest >= :since) AND (:until IS NULL OR earliest <= :until)"""
_TRACES: Final = """SELECT trace_id, earliest, latest, spans FROM (
        SELECT trace_id, MIN(earliest) AS earliest, MAX(latest) AS latest, SUM(spans) AS spans
        FROM trace GROUP BY trace_id)
    WHERE (:since IS NULL OR latest >= :since) AND (:until IS NULL OR earliest <= :until)"""
_BODY: Final = "SELECT body FROM batch WHERE id = :number"


@dataclass(frozen=True, slots=True)
class StoredTrace:
    """One trace as far as the spool has it. Instants are Unix nanoseconds; None when no span carried any."""

    trace_id: str
    """32 lower-case hexadecimal digits."""
    earliest: int | None
    latest: int | None
    spans: int
    """As delivered: a span that two different requests carried counts twice."""


class SpoolReader:
    """A read-only view of a spool; any number of them may be open beside the one writer.

    What was acknowledged before a method is called is seen by it; what arrives during an iteration may be missed.
    """

    def __init__(self, path: Path) -> None:
        """Open the spool; raises SpoolError when it is missing, something else or newer than this release."""
        self._path = path
        self._connection = open_for_reading(path)
        self._decompressor = ZstdDecompressor()

    def batches(
        self, since: int | None = None, until: int | None = None, trace_ids: Collection[str] | None = None
    ) -> Iterator[bytes]:
        """Yield stored batches in the order of their arrival, each an ExportTraceServiceRequest in protobuf.

        A request that was delivered several times, byte for byte, is in one batch once. A span that arrived in two
        *different* requests is in both: collapse exact copies by (trace id, span id) where spans are read.

        A batch holds many traces. It is selected when any of its spans lies within `since` and `until` (Unix
        nanoseconds, both inclusive, None for no limit) and, given `trace_ids` (hexadecimal, any case), when any of
        those spans is of one of these traces; the caller leaves out the rest. For whole traces of a time range, take
        their ids from `traces` and select by these alone. Raises SpoolError for a batch that cannot be read.
        """
        bounds = {"since": since, "until": until}
        if trace_ids is None:
            queries = [(_BATCHES_AT, bounds)]
        else:
            queries = [(_BATCHES_OF, {"trace_id": _trace_id(text), **bounds}) for text in trace_ids]
        numbers = {cast(int, row[0]) for query, values in queries for row in self._rows(query, values)}
        return map(self._body, sorted(numbers))

    def traces(self, since: int | None = None, until: int | None = None) -> Iterator[StoredTrace]:
        """Yield every trace that overlaps the time range, in the order of their ids; reads no batch."""
        for row in self._rows(_TRACES, {"since": since, "until": until}):
            trace_id, earliest, latest, spans = cast(tuple[bytes, int | None, int | None, int], row)
            yield StoredTrace(trace_id.hex(), earliest, latest, spans)

    def close(self) -> None:
        """Close the file; iterations that are under way end with an error."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _rows(self, query: str, values: Mapping[str, object]) -> Iterator[tuple[object, ...]]:
        try:
            yield from self._connection.execute(query, values)
        except sqlite3.Error as error:
            raise SpoolError(f"{self._path}: cannot be read ({error})") from None

    def _body(self, number: int) -> bytes:
        ((body,),) = cast(Iterator[tuple[bytes]], self._rows(_BODY, {"number": number}))
        try:
            if frame_content_size(body) > _LARGEST_BATCH:
                raise SpoolError(f"{self._path}: batch {number} claims to be larger than {_LARGEST_BATCH} bytes")
            return self._decompressor.decompress(body)
        except ZstdError as error:
            raise SpoolError(f"{self._path}: batch {number} is damaged ({error})") from None


def _trace_id(text: str) -> bytes:
    if not _TRACE_ID.fullmatch(text):
        raise InputError(f"trace id {text!r}: expected 32 hexadecimal digits")
    return bytes.fromhex(text)
