"""In which order passages come into a context, and which come first when there is no room for all. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias, TypeVar, assert_never

T = TypeVar("T")
Order: TypeAlias = Literal["given", "best_first", "lost_in_the_middle"]


def by_priority(scores: Sequence[float | None], order: Order) -> list[int]:
    """Places, the most important first: as given, or by score; those without a score follow, as given."""
    places = range(len(scores))
    if order == "given":
        return list(places)
    scored = [(-score, place) for place, score in enumerate(scores) if score is not None]
    return [place for _, place in sorted(scored)] + [place for place in places if scores[place] is None]


def arranged(best_first: Sequence[T], order: Order) -> list[T]:
    """The order in the prompt. `lost_in_the_middle`: the best at both ends, where models look, the worst between."""
    match order:
        case "given" | "best_first":
            return list(best_first)
        case "lost_in_the_middle":
            return [*best_first[::2], *reversed(best_first[1::2])]
        case _:
            assert_never(order)
