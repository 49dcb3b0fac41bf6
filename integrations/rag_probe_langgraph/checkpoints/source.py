"""Checkpoints as a `Source` of evidence paths: thread by thread, whatever the size of the store."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Final, Protocol, TypeAlias, cast

from langgraph.checkpoint.base import BaseCheckpointSaver

from rag_probe.path import EvidencePath
from rag_probe.policy import CapturePolicy, policy_from_environment
from rag_probe.protocols import Progress, Selection, Source, SourceError, SourceOptions
from rag_probe_langgraph.checkpoints.mapped import Mapped
from rag_probe_langgraph.checkpoints.marks import roles_in
from rag_probe_langgraph.checkpoints.path import path_of
from rag_probe_langgraph.checkpoints.plain import Reader
from rag_probe_langgraph.checkpoints.postgres import PostgresStore
from rag_probe_langgraph.checkpoints.roles import Role, checked, load_roles, wanted
from rag_probe_langgraph.checkpoints.saved import Store
from rag_probe_langgraph.checkpoints.saver import SaverStore
from rag_probe_langgraph.checkpoints.selecting import in_order, is_selected
from rag_probe_langgraph.checkpoints.sqlite import SqliteStore
from rag_probe_langgraph.checkpoints.stored import Serde
from rag_probe_langgraph.checkpoints.told import Told
from rag_probe_langgraph.checkpoints.turns import turns_of

_SQLITE: Final = "sqlite:///"
_POSTGRES: Final = ("postgresql://", "postgres://")


Opener: TypeAlias = Callable[[Reader], Store]


class Compiled(Protocol):
    """A compiled graph, of either API."""

    @property
    def name(self) -> str:
        """As it was given to `compile`."""
        ...

    @property
    def checkpointer(self) -> object:
        """A saver; None or a flag where the graph around it decides."""
        ...


class CheckpointSource:
    """Paths from any store of checkpoints; it is open only while it is read."""

    def __init__(
        self,
        opener: Opener,
        policy: CapturePolicy,
        roles: Mapping[str, Role],
        serde: Serde | None = None,
        progress: Progress | None = None,
    ) -> None:
        self._opener = opener
        self._serde = serde
        self._policy = policy
        self._roles = roles
        self._progress = progress

    def paths(self, selection: Selection) -> Iterator[EvidencePath]:
        """The selected paths, oldest first; in memory are one thread, and what waits for its turn."""
        chosen = (path for path in in_order(self._threads(())) if is_selected(path, selection))
        return chosen if selection.limit is None else islice(chosen, max(0, selection.limit))

    def newest(self) -> Mapping[str, str]:
        """Every thread, with the id of its newest checkpoint."""
        with closing(self._opener(Reader(self._serde))) as store:
            return store.threads()

    def paths_by_thread(self, selection: Selection, done: Collection[str]) -> Iterator[Sequence[EvidencePath]]:
        """The selected paths of every other thread."""
        for _, paths in self._threads(done):
            yield [path for path in paths if is_selected(path, selection)]

    def _threads(self, done: Collection[str]) -> Iterator[tuple[int, list[EvidencePath]]]:
        reader = Reader(self._serde)
        channels = wanted(self._roles)
        told, mapped = Told(self._roles), Mapped(self._roles)
        with closing(self._opener(reader)) as store:
            threads = store.threads()
            mapped.ask(store, threads)
            try:
                for number, thread in enumerate(threads, 1):
                    if thread not in done:
                        saved = store.saved(thread, channels)
                        roles = mapped.read(saved)
                        readings = [path_of(turn, store, reader, self._policy, roles) for turn in turns_of(saved)]
                        for reading in readings:
                            told.tell(reading)
                        store.pause()
                        yield saved[0].at or 0 if saved else 0, [reading.path for reading in readings]
                    if self._progress is not None:
                        self._progress(number, len(threads))
            finally:  # also where a limit stops it
                told.held_back(reader)
        mapped.end(everything=not done)


def open_checkpoints(
    location: str,
    options: SourceOptions | None = None,
    *,
    policy: CapturePolicy | None = None,
    roles: Mapping[str, Role] | None = None,
    serde: Serde | None = None,
) -> Source:
    """`sqlite:///FILE` or `postgresql://…`, opened for reading only; raises SourceError.

    `serde` opens what plain reading cannot (encryption); `roles` says the same as a mapping file.
    """
    mapping = None if options is None else options.mapping
    roles = checked(roles or {}) if mapping is None else load_roles(mapping)
    opener = _opener(location)
    opener(Reader()).close()  # what is no store is said at once
    progress = None if options is None else options.progress
    return CheckpointSource(opener, policy or policy_from_environment(), roles, serde, progress)


def of_saver(
    saver: BaseCheckpointSaver[str],
    *,
    policy: CapturePolicy | None = None,
    roles: Mapping[str, Role] | None = None,
) -> Source:
    """What a saver in hand holds, read by its own serialiser; raises SourceError for a role that there is none of."""
    return CheckpointSource(lambda _: SaverStore(saver), policy or policy_from_environment(), checked(roles or {}))


def of_graph(
    graph: Compiled,
    *,
    policy: CapturePolicy | None = None,
    roles: Mapping[str, Role] | None = None,
) -> Source:
    """What the checkpointer of a compiled graph holds; raises SourceError where it has none of its own.

    Without `roles`, its state class may say how it is read (`mapping`).
    """
    saver = graph.checkpointer
    if not isinstance(saver, BaseCheckpointSaver):
        raise SourceError(f"the graph {graph.name!r} has no checkpointer; compile it with one: checkpointer=…")
    return of_saver(cast("BaseCheckpointSaver[str]", saver), policy=policy, roles=roles or roles_in(graph))


def _opener(location: str) -> Opener:
    if location.startswith(_SQLITE):
        path = Path(location.removeprefix(_SQLITE))
        return lambda reader: SqliteStore(path, reader)
    if location.startswith(_POSTGRES):
        return lambda _: PostgresStore(location)
    scheme, colon, _ = location.partition("://")  # what follows may hold a password
    shown = f"{scheme}://…" if colon else location
    raise SourceError(f"checkpoints:{shown}: expected checkpoints:sqlite:///FILE or checkpoints:postgresql://…")
