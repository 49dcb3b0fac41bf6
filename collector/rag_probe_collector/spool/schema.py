"""What is inside the spool's file, by version, and how an older version becomes the newest."""

import sqlite3
from pathlib import Path
from typing import Final

from rag_probe_collector.errors import InputError

APPLICATION_ID: Final = 0x52505350
"""`RPSP` in the file's header tells a spool from every other SQLite file."""

_MIGRATIONS: Final[tuple[tuple[str, ...], ...]] = (
    (
        # body: one zstd frame of concatenated ExportTraceServiceRequests, which is itself one such message.
        """CREATE TABLE batch (
            id INTEGER PRIMARY KEY, received INTEGER NOT NULL, earliest INTEGER, latest INTEGER,
            spans INTEGER NOT NULL, body BLOB NOT NULL)""",
        "CREATE INDEX batch_by_time ON batch (earliest, latest)",
        "CREATE TABLE request (digest BLOB PRIMARY KEY, batch INTEGER NOT NULL) WITHOUT ROWID",
        """CREATE TABLE trace (
            trace_id BLOB, batch INTEGER, earliest INTEGER, latest INTEGER, spans INTEGER NOT NULL,
            PRIMARY KEY (trace_id, batch)) WITHOUT ROWID""",
    ),
)
"""Statements that lead from version N to N + 1. Released ones never change; a new version is appended."""

VERSION: Final = len(_MIGRATIONS)
"""What this release writes, and the newest that it reads."""


class SpoolError(InputError):
    """The spool cannot be opened, read or written; one line that names the file, the reason and the remedy."""


def check(connection: sqlite3.Connection, path: Path) -> None:
    """Raise SpoolError unless the file is empty or a spool of a version that this release knows; changes nothing."""
    application = _pragma(connection, "application_id")
    if application != APPLICATION_ID and (application or _pragma(connection, "schema_version")):
        raise SpoolError(f"{path}: is a SQLite file but no spool; choose another file")
    version = _pragma(connection, "user_version")
    if version > VERSION:
        raise SpoolError(f"{path}: has spool version {version}, this release knows up to {VERSION}; upgrade rag-probe")


def migrate(connection: sqlite3.Connection) -> None:
    """Bring a checked file to VERSION, each version in a transaction of its own."""
    for version in range(_pragma(connection, "user_version"), VERSION):
        connection.execute("BEGIN IMMEDIATE")
        if _pragma(connection, "user_version") == version:  # else another process was faster
            for statement in _MIGRATIONS[version]:
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {version + 1}")
        connection.execute("COMMIT")


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    (value,) = connection.execute(f"PRAGMA {name}").fetchone()
    return int(value)
