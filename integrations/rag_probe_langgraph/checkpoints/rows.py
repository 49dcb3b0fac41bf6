"""Rows of a database → the checkpoints of one thread, each with what its tasks wrote."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, TypeAlias

from rag_probe_langgraph.checkpoints.saved import Saved, Write
from rag_probe_langgraph.checkpoints.stored import Blob

Row: TypeAlias = tuple[object, ...]


class Columns(NamedTuple):
    """How one kind of database spells a mapping, and a value."""

    metadata: Callable[[object], Mapping[str, object]]
    blob: Callable[[object, object], Blob | None]
    """From the name of its form, and its bytes."""


def saved_from(thread: str, checkpoints: Iterable[Row], writes: Iterable[Row], columns: Columns) -> list[Saved]:
    """The checkpoints in the order of their rows, the writes of each in that of theirs.

    A checkpoint is `(namespace, id, parent, metadata)`, a write `(namespace, checkpoint, task, path, place, channel,
    form, bytes)`; a store may hold anything in them.
    """
    found: dict[Row, list[Write]] = {}
    for namespace, name, task, path, place, channel, form, data in writes:
        number = place if isinstance(place, int) else 0
        write = Write(str(task), str(path or ""), number, str(channel), columns.blob(form, data))
        found.setdefault((namespace, name), []).append(write)
    return [
        Saved(
            thread,
            str(namespace),
            str(name),
            str(parent) if parent else None,
            columns.metadata(metadata),
            tuple(found.get((namespace, name), ())),
        )
        for namespace, name, parent, metadata in checkpoints
    ]
