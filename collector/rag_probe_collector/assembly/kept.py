"""What filters kept together: in a row what the last one kept, side by side what each kept of its own passages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from rag_probe.stages import Filtering

_DEEPEST: Final = 16
"""Passages made from one another that are followed."""


class Left:
    """Passages and the filter that kept each, by its place. What falls is not searched for: the whole is linear."""

    def __init__(self, parents: Mapping[str, str]) -> None:
        self._parents = parents
        self._rows: dict[int, Sequence[str]] = {}
        self._keeper: dict[str, int] = {}

    def begin(self, names: Sequence[str]) -> None:
        """What the first filter was given."""
        self._keep(0, names)

    def drop(self, names: Iterable[str]) -> None:
        """They are not left any more."""
        for name in names:
            self._keeper.pop(name, None)

    def behind(self, place: int, stage: Filtering) -> None:
        """A filter that was given what others had kept, or what was made of that, comes behind them.

        Whatever else they had kept falls then; one that was given other passages too decides about those of theirs
        that it was given.
        """
        kept = stage.kept or ()
        sources = [self._source(name) for name in (*kept, *stage.dropped)]
        known = {name for name in sources if name is not None}
        if None in sources:
            self.drop(known)
        else:
            self._let_fall({self._keeper[name] for name in known} if sources else set(self._rows))
        self._keep(place, kept)

    def names(self) -> tuple[str, ...]:
        """In the order of the filters, and of each one's list."""
        keeper = self._keeper
        return tuple([name for place, names in self._rows.items() for name in names if keeper.get(name) == place])

    def _keep(self, place: int, names: Sequence[str]) -> None:
        self._rows[place] = names
        self._keeper.update(dict.fromkeys(names, place))

    def _let_fall(self, places: Iterable[int]) -> None:
        for place in places:
            self.drop([name for name in self._rows.pop(place) if self._keeper.get(name) == place])

    def _source(self, name: str) -> str | None:
        """The passage that is left which this one is, or was made of."""
        at: str | None = name
        for _ in range(_DEEPEST):
            if at is None or at in self._keeper:
                return at
            at = self._parents.get(at)
        return None


def kept(
    filters: Sequence[Filtering], parents: Mapping[str, str], first: Sequence[str] | None
) -> tuple[str, ...] | None:
    """`first` is what the first one was given; None where nobody knows it and the first one told only its drops."""
    left = Left(parents)
    for place, stage in enumerate(filters):
        if stage.kept is not None:
            left.behind(place, stage)
            continue
        if not place:
            if first is None:
                return None
            left.begin(first)
        left.drop(stage.dropped)
    return left.names()
