"""Checkpoints as a `Source` of evidence paths: thread by thread, whatever the size of the store."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from rag_probe.path import EvidencePath
from rag_probe.policy import CapturePolicy, policy_from_environment
from rag_probe.protocols import Selection, Source, SourceError, SourceOptions
from rag_probe_langgraph.checkpoints.path import path_of
from rag_probe_langgraph.checkpoints.plain import Reader
from rag_probe_langgraph.checkpoints.postgres import PostgresStore
from rag_probe_langgraph.checkpoints.roles import Role, load_roles
from rag_probe_langgraph.checkpoints.saved import Store
from rag_probe_langgraph.checkpoints.sqlite import SqliteStore
from rag_probe_langgraph.checkpoints.turns import turns_of

_logger: Final = logging.getLogger("rag_probe.checkpoints")
_SQLITE: Final = "sqlite:///"
_POSTGRES: Final = ("postgresql://", "postgres://")


class CheckpointSource:
    """Paths from any store of checkpoints."""

    def __init__(self, store: Store, reader: Reader, policy: CapturePolicy, roles: Mapping[str, Role]) -> None:
        self._store = store
        self._reader = reader
        self._policy = policy
        self._roles = roles

    def paths(self, selection: Selection) -> Iterator[EvidencePath]:
        """Thread by thread, in each by the time at which its turns ended."""
        _ = selection  # still to come
        for thread in self._store.threads():
            for turn in turns_of(self._store.saved(thread, None)):
                yield path_of(turn, self._store, self._reader, self._policy, self._roles).path


def open_checkpoints(location: str, options: SourceOptions) -> Source:
    """`sqlite:///FILE`; raises SourceError."""
    roles: Mapping[str, Role] = {} if options.mapping is None else load_roles(options.mapping)
    reader = Reader()
    if location.startswith(_SQLITE):
        store: Store = SqliteStore(Path(location.removeprefix(_SQLITE)), reader)
        return CheckpointSource(store, reader, policy_from_environment(), roles)
    if location.startswith(_POSTGRES):
        return CheckpointSource(PostgresStore(location), reader, policy_from_environment(), roles)
    raise SourceError(f"checkpoints:{location}: expected checkpoints:sqlite:///FILE or checkpoints:postgresql://…")
