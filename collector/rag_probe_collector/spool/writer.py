"""Group commit: whatever waits is written in one transaction, and acknowledged only after it."""

import logging
import queue
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Self

from zstandard import ZstdCompressor

from rag_probe_collector.spool.delivery import Delivery, examine, merge
from rag_probe_collector.spool.file import open_for_writing
from rag_probe_collector.spool.schema import SpoolError

_logger: Final = logging.getLogger("rag_probe.collector")

_GROUP_BYTES: Final = 16 << 20
"""A transaction takes no more than this beyond its first delivery: it bounds how long the last one waits."""

_BATCH_BYTES: Final = 1 << 20
"""Small deliveries share a batch up to this size: large enough to compress well, small enough to read for one trace."""


@dataclass(frozen=True, slots=True)
class _Pending:
    delivery: Delivery
    stored: Future[None] = field(default_factory=Future[None])


class SpoolWriter:
    """The one that writes to a spool. Its methods may be called from any thread.

    A delivery whose payload is already in the spool, byte for byte, is not stored again: so a client that repeats a
    request because the acknowledgement was lost leaves one copy.
    """

    def __init__(self, path: Path) -> None:
        """Open or make the spool; raises SpoolError."""
        self._path = path
        self._connection = open_for_writing(path)
        self._inode = path.stat().st_ino
        self._compressor = ZstdCompressor(level=1, write_checksum=True)
        self._queue: queue.SimpleQueue[_Pending | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._closed = False
        self._failing = False
        self._thread = threading.Thread(target=self._run, name="spool-writer", daemon=True)
        self._thread.start()

    def submit(self, delivery: Delivery) -> Future[None]:
        """Queue a delivery. The future is done once it is durable, or holds a SpoolError: then nothing was stored."""
        pending = _Pending(delivery)
        with self._lock:
            if self._closed:
                raise SpoolError(f"{self._path}: the spool is closed")
            self._queue.put(pending)
        return pending.stored

    def write(self, payload: bytes) -> Delivery:
        """Store one ExportTraceServiceRequest, durable on return; raises MalformedRequestError or SpoolError."""
        delivery = examine(payload)
        self.submit(delivery).result()
        return delivery

    def close(self) -> None:
        """Commit what is queued, then close the file. Closing twice is no error."""
        with self._lock:
            if not self._closed:
                self._closed = True
                self._queue.put(None)
        self._thread.join()
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run(self) -> None:
        for group in self._groups():
            try:
                self._commit([pending.delivery for pending in group])
            except Exception as error:
                self._refuse(group, error)
            else:
                self._failing = False
                for pending in group:
                    pending.stored.set_result(None)

    def _groups(self) -> Iterator[list[_Pending]]:
        """Yield what waits, in order, until the end was queued."""
        while first := self._queue.get():
            group, size = [first], 0
            while size < _GROUP_BYTES and not self._queue.empty():
                following = self._queue.get()
                if following is None:
                    yield group
                    return
                group.append(following)
                size += len(following.delivery.payload)
            yield group

    def _commit(self, deliveries: Sequence[Delivery]) -> None:
        self._check_place()
        self._connection.execute("BEGIN IMMEDIATE")
        for batch in _packed(self._unknown(deliveries)):
            self._insert(batch)
        self._connection.execute("COMMIT")

    def _check_place(self) -> None:
        """Refuse to write into a file that nobody can find any more, since what it holds is lost with the process."""
        try:
            in_place = self._path.stat().st_ino == self._inode
        except OSError:
            in_place = False
        if not in_place:
            raise SpoolError(f"{self._path}: was removed or replaced while in use; restart the collector")

    def _unknown(self, deliveries: Iterable[Delivery]) -> Iterator[Delivery]:
        """Leave out what is in the spool already, or twice in this group."""
        seen: set[bytes] = set()
        for delivery in deliveries:
            known = self._connection.execute("SELECT 1 FROM request WHERE digest = ?", (delivery.digest,)).fetchone()
            if not known and delivery.digest not in seen and delivery.extents:
                seen.add(delivery.digest)
                yield delivery

    def _insert(self, deliveries: Sequence[Delivery]) -> None:
        extents = sorted(merge(deliveries), key=lambda extent: extent.trace_id)
        instants = [at for extent in extents for at in (extent.earliest, extent.latest) if at is not None]
        bounds = (min(instants, default=None), max(instants, default=None))
        spans = sum(extent.spans for extent in extents)
        body = self._compressor.compress(b"".join(delivery.payload for delivery in deliveries))
        batch = self._connection.execute(
            "INSERT INTO batch (received, earliest, latest, spans, body) VALUES (?, ?, ?, ?, ?)",
            (time.time_ns(), *bounds, spans, body),
        ).lastrowid
        self._connection.executemany(
            "INSERT INTO request (digest, batch) VALUES (?, ?)", [(delivery.digest, batch) for delivery in deliveries]
        )
        self._connection.executemany(
            "INSERT INTO trace (trace_id, batch, earliest, latest, spans) VALUES (?, ?, ?, ?, ?)",
            [(extent.trace_id, batch, extent.earliest, extent.latest, extent.spans) for extent in extents],
        )

    def _refuse(self, group: Iterable[_Pending], error: Exception) -> None:
        """Undo the transaction and tell those who wait, so that their clients keep the spans and try again."""
        if self._connection.in_transaction:
            try:
                self._connection.execute("ROLLBACK")
            except sqlite3.Error:
                _logger.exception("%s: a failed transaction could not be rolled back", self._path)
        reason = error if isinstance(error, SpoolError) else SpoolError(f"{self._path}: cannot be written ({error})")
        if not self._failing:
            self._failing = True
            _logger.error("%s; requests are refused until this is mended, clients keep their spans", reason)
        for pending in group:
            pending.stored.set_exception(reason)


def _packed(deliveries: Iterable[Delivery]) -> Iterator[list[Delivery]]:
    """Divide deliveries, in order, into batches that are as full as one delivery more would be too much."""
    batch: list[Delivery] = []
    size = 0
    for delivery in deliveries:
        if batch and size + len(delivery.payload) > _BATCH_BYTES:
            yield batch
            batch, size = [], 0
        batch.append(delivery)
        size += len(delivery.payload)
    if batch:
        yield batch
