"""Evidence paths of traces, found again by graph task or by trace id; on disk, so that memory does not grow with them.

The file is SQLite's own temporary one: without a name, gone when it is closed, and nobody else can open it.
"""

from __future__ import annotations

import pickle
import sqlite3
from collections.abc import Iterable, Iterator
from typing import cast

from rag_probe.path import EvidencePath, Step
from rag_probe.stages import Node


class TracedPaths:
    """Written once, then asked question by question; what nobody asked for can be counted."""

    def __init__(self, paths: Iterable[EvidencePath]) -> None:
        self._file = sqlite3.connect("")
        self._file.executescript(
            "PRAGMA journal_mode = OFF;"  # nothing is ever taken back
            "CREATE TABLE paths (number INTEGER PRIMARY KEY, body BLOB);"
            "CREATE TABLE used (number INTEGER PRIMARY KEY);"
            "CREATE TABLE keys (key TEXT, number INTEGER, PRIMARY KEY (key, number)) WITHOUT ROWID;"
        )
        for number, path in enumerate(paths):
            self._file.execute("INSERT INTO paths (number, body) VALUES (?, ?)", (number, pickle.dumps(path)))
            keys = [(key, number) for key in _keys(path)]
            self._file.executemany("INSERT OR IGNORE INTO keys VALUES (?, ?)", keys)

    def of(self, stored: EvidencePath) -> list[EvidencePath]:
        """The traces of a checkpoint's question, in the order in which their last tasks ran."""
        tasks = [step.stage.task_id for step in stored.nodes or () if step.stage.task_id is not None]
        found = self._find([f"task:{task}" for task in tasks], stored)
        if not found:
            found = [one for one in self._find(_by_trace(stored), stored) if not (tasks and one[1].nodes)]
            found = found if len(found) == 1 else []
        self._file.executemany("INSERT OR IGNORE INTO used VALUES (?)", [(number,) for number, _ in found])
        return [path for _, path in found]

    def unused(self) -> int:
        """How many belong to no question that was asked for."""
        (count,) = self._file.execute("SELECT (SELECT count(*) FROM paths) - (SELECT count(*) FROM used)").fetchone()
        return cast(int, count)

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    def _find(self, keys: Iterable[str], stored: EvidencePath) -> list[tuple[int, EvidencePath]]:
        numbers = dict.fromkeys(
            cast(int, number)
            for key in keys
            for (number,) in self._file.execute("SELECT number FROM keys WHERE key = ? ORDER BY number", (key,))
        )
        paths = ((number, self._read(number)) for number in numbers)
        return [(number, path) for number, path in paths if path.thread_id in (None, stored.thread_id)]

    def _read(self, number: int) -> EvidencePath:
        body = cast(bytes, self._file.execute("SELECT body FROM paths WHERE number = ?", (number,)).fetchone()[0])
        return cast(EvidencePath, pickle.loads(body))  # noqa: S301 - written above, into a file that nobody else sees


def _keys(path: EvidencePath) -> Iterator[str]:
    """A trace belongs to the branch in which its last task stands: what came before, branches may share."""
    outer = [step for step in path.nodes or () if _is_outer(step)]
    if outer:
        yield f"task:{outer[-1].stage.task_id}"
    yield from _by_trace(path)


def _is_outer(step: Step[Node]) -> bool:
    return step.stage.task_id is not None and "|" not in (step.stage.checkpoint_ns or "")


def _by_trace(path: EvidencePath) -> list[str]:
    return [f"trace:{trace}" for trace in dict.fromkeys((path.trace_id, *path.trace_ids)) if trace]
