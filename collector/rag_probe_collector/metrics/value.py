"""What a metric says, and what a metric is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from rag_probe_collector.metrics.facts import Facts


class Value(NamedTuple):
    """A figure with all that it stands on. `value is None`: not applicable or not captured, and `reason` says which.

    `numerator` and `denominator` are counts for a proportion; `n` is the number of items looked at.
    """

    value: float | None
    numerator: float | None = None
    denominator: float | None = None
    n: int = 0
    reason: str | None = None


Better: TypeAlias = Literal["higher", "lower", "neither"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """One definition. Its name states its variant, its `denominator` what it is divided by."""

    name: str
    denominator: str
    compute: Callable[[Facts], Value]
    proportion: bool = True
    """Whether it lies in [0, 1]."""
    better: Better = "higher"


def missing(reason: str) -> Value:
    """No figure, and why."""
    return Value(None, reason=reason)


def proportion(numerator: int, denominator: int, none: str) -> Value:
    """`numerator / denominator`; at 0 there is no figure, because of `none`."""
    if not denominator:
        return Value(None, numerator, 0, 0, none)
    return Value(numerator / denominator, numerator, denominator, denominator)
