"""Fewer rows than the product: every two values that can stand together do so in at least one row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations, product
from typing import Any, TypeAlias

Row: TypeAlias = tuple[Any, ...]


def pairwise(factors: Sequence[Sequence[Any]], possible: Callable[[Row], bool]) -> list[Row]:
    """The same rows every time; the two largest factors should come first."""
    pairs = {row: pairs_of(row) for row in product(*factors) if possible(row)}
    rows: dict[Any, list[Row]] = {}
    for row, found in pairs.items():
        for pair in found:
            rows.setdefault(pair, []).append(row)
    chosen: list[Row] = []
    left = set(rows)
    for pair in rows:
        if pair in left:
            best = max(rows[pair], key=lambda row: len(left.intersection(pairs[row])))
            chosen.append(best)
            left.difference_update(pairs[best])
    return chosen


def pairs_of(row: Row) -> tuple[Any, ...]:
    """Every two values of a row, with their places."""
    return tuple(combinations(enumerate(row), 2))
