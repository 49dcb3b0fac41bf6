"""The seams where integrations plug in by entry point, so that the collector need not import them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol, runtime_checkable

from rag_probe.path import EvidencePath

SOURCES: Final = "rag_probe.sources"
"""Entry point group: the name is the scheme (`checkpoints`), the value an `OpenSource`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which questions of a source are wanted; with nothing set, all."""

    service: str | None = None
    since: int | None = None
    """Nanoseconds since the epoch, inclusive."""
    until: int | None = None
    """Nanoseconds since the epoch, exclusive."""
    traces: tuple[str, ...] = ()
    """Trace ids in lower-case hex."""
    attributes: Mapping[str, str] = field(default_factory=dict[str, str])
    """Attributes of the outermost span or the resource, compared as text."""
    limit: int | None = None


class Progress(Protocol):
    """Who wants to know how far a source has been read."""

    def __call__(self, done: int, total: int) -> None:
        """So many of its parts (threads) are done."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceOptions:
    """What the command line may hand to a source beside its location."""

    mapping: Path | None = None
    """`--map`: how state is read as stages."""
    traces: str | None = None
    """`--traces`: a second source to join."""
    progress: Progress | None = None
    """Told after every part, by sources that know how many they have."""


class SourceError(Exception):
    """A source that cannot be read: one line that says what, where and how to mend it."""


@runtime_checkable
class Source(Protocol):
    """Something that holds evidence paths."""

    def paths(self, selection: Selection) -> Iterator[EvidencePath]:
        """The selected paths, oldest first, in bounded memory; raises `SourceError`."""
        ...


@runtime_checkable
class ByThread(Protocol):
    """A source that is read thread by thread, so that a reading which stopped can go on; raises `SourceError`."""

    def newest(self) -> Mapping[str, str]:
        """Every thread, with a mark that changes whenever it gets a new checkpoint."""
        ...

    def paths_by_thread(self, selection: Selection, done: Collection[str]) -> Iterator[Sequence[EvidencePath]]:
        """The selected paths of each thread that is not in `done`; the selection's limit is left alone."""
        ...


class OpenSource(Protocol):
    """How a source is made from the part behind its scheme; raises `SourceError`."""

    def __call__(self, location: str, options: SourceOptions) -> Source:
        """Open for reading only."""
        ...
