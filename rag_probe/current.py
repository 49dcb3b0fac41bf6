"""How `stage` and `tell` find the run they stand in, and what is no error there: an integration registers both."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias

from rag_probe.policy import CapturePolicy
from rag_probe.stages import Budget, Citations, Identity, Outcome, Stage, Verdicts


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What only the app knows about the current question; None leaves what was told before."""

    outcome: Outcome | None = None
    confidence: float | None = None
    budget: Budget | None = None
    citations: Citations | None = None
    identity: Identity | None = None
    verdicts: Verdicts | None = None
    """Which follow those told before."""


class CurrentRun(Protocol):
    """A framework's run that is under way in this context."""

    @property
    def policy(self) -> CapturePolicy:
        """What may leave of what the app tells: `stage` applies it before it calls `record`."""
        ...

    def record(self, stage: Stage, started_ns: int, ended_ns: int, error: str | None) -> None:
        """Add a stage that the app recorded itself, as a child of this run; never raises."""
        ...

    def fail(self, kind: str, step: str | None, started_ns: int, ended_ns: int, error: str) -> None:
        """Add a stage that raised before the app had said anything of it; never raises."""
        ...

    def name_of(self, item: object) -> str | None:
        """The id by which this run records a passage; None leaves it to what the item says itself. Never raises."""
        ...

    def tell(self, told: Told) -> None:
        """Note what the app says about the question that this run belongs to; never raises."""
        ...


Resolver: TypeAlias = Callable[[], CurrentRun | None]

_resolvers: Final[list[Resolver]] = []
_steering: Final[list[Callable[[BaseException], bool]]] = []


def register_steering(is_steering: Callable[[BaseException], bool]) -> None:
    """Add a way to tell a framework's control flow, which it raises through the app's code, from an error."""
    if is_steering not in _steering:
        _steering.append(is_steering)


def is_steering(error: BaseException) -> bool:
    """Whether an exception only steers: a graph that pauses has not failed."""
    return any(tells(error) for tells in _steering)


def register_resolver(resolver: Resolver) -> None:
    """Add a way to find the current run; registering one twice changes nothing."""
    if resolver not in _resolvers:
        _resolvers.append(resolver)


def current_run() -> CurrentRun | None:
    """The innermost run of the first integration that knows one; None outside of all."""
    for resolver in _resolvers:
        run = resolver()
        if run is not None:
            return run
    return None
