"""What every recorder has: a step's name, the ids of what it is told about, and whether it was told anything."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar, Final, TypeAlias, TypeVar

from rag_probe.faults import warn_once
from rag_probe.identifiers import identifier, identifier_of
from rag_probe.policy import CapturePolicy
from rag_probe.stages import Budget, Stage

T = TypeVar("T")

Naming: TypeAlias = Callable[[object], str | None]

ID_KEYS: Final = CapturePolicy().id_keys
"""Where the id of a passage is looked for in its metadata."""


class Recorder(ABC):
    """Notes for one stage."""

    kind: ClassVar[str]

    def __init__(self, step: str | None) -> None:
        self.step = step
        self.noted = False
        """Whether anything was said. With nothing said it is not captured what passed, which is not: nothing passed."""
        self.naming: Naming | None = None
        """How the run around names passages that have no id of their own."""

    @property
    def budget(self) -> Budget | None:
        """What is known of a budget, passages or not."""
        return None

    @abstractmethod
    def stage(self) -> Stage:
        """The stage as noted so far."""

    @abstractmethod
    def flowed(self, given: Sequence[str], returned: Sequence[str]) -> None:
        """Note the ids that a decorated function was given and those of them that it returned."""

    def name_of(self, item: object) -> str | None:
        """The id of a passage: as the run around knows it, else as it says itself."""
        return (self.naming(item) if self.naming is not None else None) or identifier_of(item, ID_KEYS)

    def _id(self, item: object) -> str | None:
        self.noted = True
        found = self.name_of(item)
        if found is None:
            warn_once(f"id in {self.kind}", "stage(%r): a %s has no id: it is left out", self.kind, type(item).__name__)
        return found


def known(values: Iterable[T | None]) -> tuple[T | None, ...]:
    """A column; `()` when nothing in it is known."""
    column = tuple(values)
    return column if any(value is not None for value in column) else ()


def words(reason: object) -> str | None:
    """A reason as the app gave it; the policy decides later what of it leaves."""
    return reason if isinstance(reason, str) else identifier(reason)
