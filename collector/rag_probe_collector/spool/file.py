"""How the spool's file is made, recognised and opened."""

import os
import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import quote

from rag_probe_collector.spool.schema import APPLICATION_ID, SpoolError, check, migrate

_BUSY_SECONDS: Final = 5
_PAGE_BYTES: Final = 8192
"""Half the write calls per batch of SQLite's default; still larger pages cost more than they save once the index of
traces is large, since new trace ids fall all over it."""
_CHECKPOINT_PAGES: Final = 4096
"""32 MiB of log between checkpoints: index pages that change again and again are copied once."""
_CACHE_KIB: Final = 16_000
"""Enough to keep the index of some hundred thousand traces in memory while it is written to."""


def is_spool(path: Path) -> bool:
    """Tell by its content whether the file is a spool, of whatever version; False for a file that is not there."""
    try:
        with path.open("rb") as file:
            header = file.read(72)
    except OSError:
        return False
    return header.startswith(b"SQLite format 3\0") and header[68:] == APPLICATION_ID.to_bytes(4)


def open_for_writing(path: Path) -> sqlite3.Connection:
    """Open the spool, made or migrated when need be; the connection may be handed to another thread.

    Raises SpoolError when the file is something else or newer than this release, and then leaves it as it was.
    """
    try:
        _make(path)
    except OSError as error:
        raise SpoolError(f"{path}: cannot be made ({error.strerror}); choose another file") from None
    with _opened(path, "rw") as connection:
        path.chmod(0o600)
        connection.execute(f"PRAGMA page_size = {_PAGE_BYTES}")
        # Before WAL, so that it stands in the file itself, where is_spool looks, and not in the log.
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        if mode != "wal":
            raise SpoolError(f"{path}: its file system has no shared memory for SQLite's log; choose a local disk")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute(f"PRAGMA wal_autocheckpoint = {_CHECKPOINT_PAGES}")
        connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
        migrate(connection)
    return connection


def open_for_reading(path: Path) -> sqlite3.Connection:
    """Open the spool read-only, also while a collector writes to it; raises SpoolError."""
    if not path.is_file():
        raise SpoolError(f"{path}: no such file; expected a spool that `rag-probe collect` wrote")
    if not is_spool(path):
        raise SpoolError(f"{path}: is no spool; expected a file that `rag-probe collect` wrote")
    with _opened(path, "ro") as connection:
        return connection


def _make(path: Path) -> None:
    """Create the file, readable by its owner alone, unless it is there. SQLite gives its log the same mode."""
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        return
    directory = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


@contextmanager
def _opened(path: Path, mode: str) -> Generator[sqlite3.Connection]:
    """Yield a checked connection, which stays open unless the block fails."""
    address = f"file:{quote(str(path.absolute()))}?mode={mode}"
    try:
        connection = sqlite3.connect(
            address, uri=True, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
    except sqlite3.Error as error:
        raise SpoolError(f"{path}: cannot be opened ({error})") from None
    try:
        check(connection, path)
        yield connection
    except sqlite3.Error as error:
        connection.close()
        raise SpoolError(f"{path}: cannot be used as a spool ({error}); choose another file") from None
    except BaseException:
        connection.close()
        raise
