"""Which of N things belong together."""

from __future__ import annotations


class Union:
    """Disjoint sets over `range(size)`; groups and their members keep the order of the numbers."""

    def __init__(self, size: int) -> None:
        self._above = list(range(size))

    def join(self, one: int, other: int) -> None:
        """Put both into one set; the lowest number stands for it."""
        low, high = sorted((self._find(one), self._find(other)))
        self._above[high] = low

    def groups(self) -> list[list[int]]:
        """The sets, ordered by their lowest number."""
        groups: dict[int, list[int]] = {}
        for index in range(len(self._above)):
            groups.setdefault(self._find(index), []).append(index)
        return list(groups.values())

    def _find(self, index: int) -> int:
        above = self._above
        while above[index] != index:
            above[index] = above[above[index]]
            index = above[index]
        return index
