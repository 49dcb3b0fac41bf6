"""The corpus manifest: which passages exist, in which revision, for whom and how fresh (contracts 5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from rag_probe_collector.errors import InputError
from rag_probe_collector.register.case import Selector
from rag_probe_collector.register.listing import read_listing
from rag_probe_collector.register.recorded_id import RecordedId
from rag_probe_collector.register.validate import Shape, refuse_twice

SELECTABLE: Final = ("id", "document", "revision", "tenant", "status")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One passage of the corpus."""

    id: RecordedId
    document: RecordedId | None = None
    revision: str | None = None
    tenant: str | None = None
    status: Literal["current", "superseded", "withdrawn"] | None = None
    digest: str | None = None
    valid_from: str | None = None
    valid_to: str | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """A versioned snapshot, by passage id."""

    name: str
    entries: Mapping[str, Entry]
    version: str | None = None

    def select(self, selectors: Selector | tuple[Selector, ...], place: str) -> frozenset[str]:
        """The ids that fit any of the selectors; raises `InputError` for a field that no entry has."""
        each = (selectors,) if isinstance(selectors, Mapping) else selectors
        return frozenset(chosen for selector in each for chosen in self._one(selector, place))

    def _one(self, selector: Selector, place: str) -> frozenset[str]:
        if not selector:
            raise InputError(f"{place}: allowed: expected at least one field, got none: that would allow everything")
        unknown = next((key for key in selector if key not in SELECTABLE), None)
        if unknown is not None:
            raise InputError(f"{place}: allowed: expected the fields {', '.join(SELECTABLE)}, got {unknown[:80]!r}")
        wanted = [(key, (value,) if isinstance(value, str) else value) for key, value in selector.items()]
        return frozenset(
            entry.id for entry in self.entries.values() if all(getattr(entry, key) in values for key, values in wanted)
        )


_SHAPE: Final = Shape(Entry, "chunk")


def load_corpus(path: Path) -> Corpus:
    """The manifest; raises `InputError`."""
    listing = read_listing(path, "chunks", "rag-probe.corpus/1")
    entries = [_SHAPE.read(item) for item in listing.items]
    if not entries:
        raise InputError(f"{listing.name}: expected at least one chunk, got none")
    refuse_twice((entry.id for entry in entries), listing.name)
    return Corpus(
        name=listing.name,
        entries={entry.id: entry for entry in entries},
        version=listing.version("corpus_version"),
    )
