"""A labelled question: what should happen, for whom, on which evidence (contracts 5).

Labels describe the fixture's permissions; they never grant access in the running application (checklist 7).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from rag_probe.stages import Identity, Outcome
from rag_probe_collector.register.recorded_id import RecordedId

Split: TypeAlias = Literal["dev", "validation", "test"]
Selector: TypeAlias = Mapping[str, str | tuple[str, ...]]
"""Fields of the corpus manifest and the value, or values, that they must have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A part of the corpus: a chunk, or the characters [start, end) of its source text."""

    id: RecordedId
    document: RecordedId | None = None
    revision: str | None = None
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """A fact that the answer needs. Each group of passages alone establishes it, all of its members together."""

    id: str
    fact: str = ""
    supplied_by_question: bool = False
    groups: tuple[tuple[Passage, ...], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One labelled question. `allowed_ids` is what this caller may see; `gold_ids` what answers the question."""

    id: str
    segment: str
    question: str
    answerable: bool
    """By this caller."""
    tenant: str | None = None
    identity: Identity | None = None
    allowed_ids: frozenset[RecordedId] | None = None
    allowed: Selector | tuple[Selector, ...] | None = None
    """Instead of `allowed_ids`; resolved over the manifest when the file is read."""
    gold_ids: frozenset[RecordedId] | None = None
    requirements: tuple[Requirement, ...] = ()
    expected_outcome: Outcome | None = None
    why_unanswerable: Literal["absent", "expired", "inaccessible"] | None = None
    accept: str | tuple[str, ...] | None = None
    """What the task needs to count as done."""
    impact: Literal["high", "routine"] = "routine"
    split: Split | None = None
    slices: Mapping[str, str | bool | int | float] = field(default_factory=dict[str, str | bool | int | float])
    expected_route: str | tuple[str, ...] | None = None
    """Node names, or a pattern over them (`scoring.route`)."""
    notes: str | tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Register:
    """The cases of one file, in its order."""

    name: str
    cases: tuple[Case, ...]
    dataset_version: str | None = None
    corpus_version: str | None = None
    warnings: tuple[str, ...] = ()

    def by_id(self) -> dict[str, Case]:
        """Each case under its id."""
        return {case.id: case for case in self.cases}
