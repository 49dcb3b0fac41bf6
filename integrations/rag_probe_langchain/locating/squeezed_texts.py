"""Texts without their whitespace, each made when it is first needed: mostly, a few characters of it are enough."""

from bisect import bisect_left
from collections.abc import Iterable

from rag_probe_langchain.locating.squeezed import squeeze

SHORTEST_PART = 32
"""So many characters make a part an observation; half of a text shorter than twice that. No whitespace counts."""

SHORTEST_TEXT = 16
"""Texts and parts shorter than this are not looked for."""

_ENOUGH = 4 * SHORTEST_PART


class SqueezedTexts:
    """The squeezed forms of `texts`."""

    __slots__ = ("_backward", "_forms", "_forward", "_texts")

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = texts
        self._forms: dict[str, str] = {}
        self._forward: list[str] = []
        self._backward: list[str] = []

    def form(self, text: str) -> str:
        """`text` without whitespace."""
        form = self._forms.get(text)
        if form is None:
            form = self._forms[text] = squeeze(text)
        return form

    def ends(self, text: str) -> tuple[str, str] | None:
        """The shortest beginning and end of the form that are worth finding. None for a text too short to look for."""
        head, tail = squeeze(text[:_ENOUGH]), squeeze(text[-_ENOUGH:])
        if min(len(head), len(tail)) < 2 * SHORTEST_PART:
            head = tail = self.form(text)
        if len(head) < SHORTEST_TEXT:
            return None
        size = min(SHORTEST_PART, max(SHORTEST_TEXT, (len(head) + 1) // 2))
        return head[:size], tail[-size:]

    def only_one_begins(self, part: str) -> bool:
        """Whether no two different forms begin with `part`."""
        self._sort()
        return _begin_with(self._forward, part) < 2

    def only_one_ends(self, part: str) -> bool:
        """Whether no two different forms end with `part`."""
        self._sort()
        return _begin_with(self._backward, part[::-1]) < 2

    def _sort(self) -> None:
        if not self._forward:
            distinct = {self.form(text) for text in self._texts}
            self._forward = sorted(distinct)
            self._backward = sorted([form[::-1] for form in distinct])


def _begin_with(ordered: list[str], part: str) -> int:
    """How many of the `ordered` texts begin with `part`, up to two: they stand side by side."""
    first = bisect_left(ordered, part)
    return sum(text.startswith(part) for text in ordered[first : first + 2])
