"""`sqlite:///FILE`: what langgraph-checkpoint-sqlite wrote, read while it may be writing, and never changed."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Final, cast
from urllib.parse import quote

from rag_probe.protocols import SourceError
from rag_probe_langgraph.checkpoints.plain import Reader
from rag_probe_langgraph.checkpoints.rows import Columns, saved_from
from rag_probe_langgraph.checkpoints.saved import Saved, entries
from rag_probe_langgraph.checkpoints.stored import Blob

_COLUMNS: Final = {
    "checkpoints": {"thread_id", "checkpoint_ns", "checkpoint_id", "parent_checkpoint_id", "type", "checkpoint"},
    "writes": {"thread_id", "checkpoint_ns", "checkpoint_id", "task_id", "idx", "channel", "type", "value"},
}
_OWN: Final = "__"
"""LangGraph's own channels, which are always read: interrupts, answers, errors, sends."""
_VERSIONS: Final = "channel_versions"
_BUSY_S: Final = 5.0
_EFFECTIVE: Final = os.access in os.supports_effective_ids
_REMEDY: Final = "expected what langgraph-checkpoint-sqlite writes"
_REMEDIES: Final = {
    "locked": "another process holds it; try again, or read a copy",
    "malformed": "it is damaged or cut off; copy it anew with: sqlite3 FILE '.backup COPY'",
    "unable to open": "check its permissions, or read a copy that has the -wal file beside it",
    "readonly": "read a copy that has the -wal file beside it",
}
"""By what SQLite says."""


class SqliteStore:
    """One file. Opened read-only, without the saver, whose set-up would write."""

    def __init__(self, path: Path, reader: Reader) -> None:
        """Look whether it is one at all; raises SourceError."""
        self._path = path
        self._reader = reader
        if not path.is_file():
            found = "a directory" if path.is_dir() else "no such file"
            raise SourceError(f"{path}: {found}; expected checkpoints:sqlite:///FILE")
        mode = "immutable=1" if _is_at_rest(path) else "mode=ro"
        try:
            self._connection = sqlite3.connect(f"file:{quote(str(path))}?{mode}", uri=True, timeout=_BUSY_S)
        except sqlite3.Error as error:
            raise self._unreadable(error) from None
        try:
            self._path_column = self._look()
        except SourceError:
            self.close()
            raise

    def _look(self) -> str:
        """Whether it holds checkpoints; the name of the column with the tasks' paths."""
        self._query("PRAGMA query_only=ON")
        for table, expected in _COLUMNS.items():
            missing = expected - {str(row[1]) for row in self._query(f"PRAGMA table_info({table})")}
            if missing:
                raise SourceError(
                    f"{self._path}: no checkpoints of LangGraph: the table {table} lacks {', '.join(sorted(missing))}; "
                    "expected what langgraph-checkpoint-sqlite writes"
                )
        columns = {str(row[1]) for row in self._query("PRAGMA table_info(writes)")}
        return "task_path" if "task_path" in columns else "''"

    def threads(self) -> Mapping[str, str]:
        """By their first checkpoint; the ids of all are held, nothing else of the file."""
        rows = self._query(
            "SELECT thread_id, max(CASE WHEN checkpoint_ns = '' THEN checkpoint_id END) FROM checkpoints "
            "GROUP BY thread_id ORDER BY min(checkpoint_id), thread_id"
        )
        return {str(thread): str(newest or "") for thread, newest in rows}

    def channels(self, thread: str, newest: str) -> Collection[str]:
        """Names of channels that it has written, or that its newest checkpoint knows."""
        written = self._query("SELECT DISTINCT channel FROM writes WHERE thread_id = ?", (thread,))
        return {*(str(channel) for (channel,) in written), *entries(self._record(thread, "", newest).get(_VERSIONS))}

    def saved(self, thread: str, channels: Collection[str] | None) -> list[Saved]:
        """The checkpoints without their states; before their writes, so that none of these is missing."""
        checkpoints = self._query(
            "SELECT checkpoint_ns, checkpoint_id, parent_checkpoint_id, metadata FROM checkpoints "
            "WHERE thread_id = ? ORDER BY checkpoint_id",
            (thread,),
        )
        wanted = "1" if channels is None else f"channel IN ({','.join('?' * len(channels))})"
        writes = self._query(
            f"SELECT checkpoint_ns, checkpoint_id, task_id, {self._path_column}, idx, channel, type, "  # noqa: S608 - no value is written into it
            f"CASE WHEN {wanted} OR substr(channel, 1, 2) = '{_OWN}' THEN value END FROM writes WHERE thread_id = ? "
            f"ORDER BY checkpoint_id, {self._path_column}, task_id, idx",
            (*(channels or ()), thread),
        )
        return saved_from(thread, checkpoints, writes, Columns(_metadata, _written))

    def checkpoint(self, saved: Saved) -> Mapping[str, object]:
        """One record."""
        return self._record(saved.thread, saved.namespace, saved.id)

    def pause(self) -> None:
        """Nothing: no transaction is open between queries."""

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _record(self, *place: str) -> Mapping[str, object]:
        rows = self._query(
            "SELECT type, checkpoint FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?",
            place,
        )
        return entries(self._reader.surface(_blob(*rows[0])) if rows else None)

    def _query(self, sql: str, values: Sequence[object] = ()) -> list[tuple[object, ...]]:
        try:
            return self._connection.execute(sql, tuple(values)).fetchall()
        except sqlite3.Error as error:
            raise self._unreadable(error) from None

    def _unreadable(self, error: sqlite3.Error) -> SourceError:
        remedy = next((each for text, each in _REMEDIES.items() if text in str(error)), _REMEDY)
        return SourceError(f"{self._path}: cannot be read as a checkpoint database ({error}); {remedy}")


def _is_at_rest(path: Path) -> bool:
    """Whether nobody has it open for writing, in a folder where a reader may not put the lock file that it needs."""
    may_write = os.access(path.parent, os.W_OK, effective_ids=_EFFECTIVE)
    return not may_write and not path.with_name(f"{path.name}-wal").exists()


def _blob(kind: object, data: object) -> Blob:
    return Blob(str(kind), data if isinstance(data, bytes) else str(data).encode())


def _written(kind: object, data: object) -> Blob | None:
    """None where the channel was not asked for."""
    return None if data is None else _blob(kind, data)


def _metadata(stored: object) -> Mapping[str, object]:
    try:
        text = stored.decode() if isinstance(stored, bytes) else cast(str, stored)  # json would guess the encoding
        return entries(json.loads(text) if text else None)
    except (ValueError, RecursionError, TypeError):
        return {}
