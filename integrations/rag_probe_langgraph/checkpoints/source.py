"""Checkpoints as a `Source` of evidence paths: thread by thread, whatever the size of the store."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Final, TypeAlias

from langgraph.checkpoint.base import BaseCheckpointSaver

from rag_probe.path import EvidencePath
from rag_probe.policy import CapturePolicy, policy_from_environment
from rag_probe.protocols import Selection, Source, SourceError, SourceOptions
from rag_probe_langgraph.checkpoints.path import path_of
from rag_probe_langgraph.checkpoints.plain import Reader
from rag_probe_langgraph.checkpoints.postgres import PostgresStore
from rag_probe_langgraph.checkpoints.roles import Role, load_roles, wanted
from rag_probe_langgraph.checkpoints.saved import Store
from rag_probe_langgraph.checkpoints.saver import SaverStore
from rag_probe_langgraph.checkpoints.selecting import in_order, is_selected
from rag_probe_langgraph.checkpoints.sqlite import SqliteStore
from rag_probe_langgraph.checkpoints.told import Told
from rag_probe_langgraph.checkpoints.turns import turns_of

_SQLITE: Final = "sqlite:///"
_POSTGRES: Final = ("postgresql://", "postgres://")


Opener: TypeAlias = Callable[[Reader], Store]


class CheckpointSource:
    """Paths from any store of checkpoints; it is open only while it is read."""

    def __init__(self, opener: Opener, policy: CapturePolicy, roles: Mapping[str, Role]) -> None:
        self._opener = opener
        self._policy = policy
        self._roles = roles

    def paths(self, selection: Selection) -> Iterator[EvidencePath]:
        """The selected paths, oldest first; in memory are one thread, and what waits for its turn."""
        chosen = (path for path in in_order(self._threads()) if is_selected(path, selection))
        return chosen if selection.limit is None else islice(chosen, max(0, selection.limit))

    def _threads(self) -> Iterator[tuple[int, list[EvidencePath]]]:
        reader = Reader()
        channels = wanted(self._roles)
        told = Told(self._roles)
        with closing(self._opener(reader)) as store:
            for thread in store.threads():
                saved = store.saved(thread, channels)
                readings = [path_of(turn, store, reader, self._policy, self._roles) for turn in turns_of(saved)]
                for reading in readings:
                    told.tell(reading)
                yield saved[0].at or 0 if saved else 0, [reading.path for reading in readings]
        told.held_back(reader)


def open_checkpoints(location: str, options: SourceOptions, *, policy: CapturePolicy | None = None) -> Source:
    """`sqlite:///FILE` or `postgresql://…`, opened for reading only; raises SourceError."""
    roles: Mapping[str, Role] = {} if options.mapping is None else load_roles(options.mapping)
    opener = _opener(location)
    opener(Reader()).close()  # what is no store is said at once
    return CheckpointSource(opener, policy or policy_from_environment(), roles)


def of_saver(
    saver: BaseCheckpointSaver[str],
    *,
    policy: CapturePolicy | None = None,
    roles: Mapping[str, Role] | None = None,
) -> Source:
    """What a saver in hand holds, read by its own serialiser."""
    return CheckpointSource(lambda _: SaverStore(saver), policy or policy_from_environment(), roles or {})


def _opener(location: str) -> Opener:
    if location.startswith(_SQLITE):
        path = Path(location.removeprefix(_SQLITE))
        return lambda reader: SqliteStore(path, reader)
    if location.startswith(_POSTGRES):
        return lambda _: PostgresStore(location)
    raise SourceError(f"checkpoints:{location}: expected checkpoints:sqlite:///FILE or checkpoints:postgresql://…")
