"""The scores that one question's passages came with, by id."""

from __future__ import annotations

from collections.abc import Sequence

from rag_probe_langchain.run import Ids


class Scores:
    """Two searches may give one passage two scores; a third one is a reranker's."""

    __slots__ = ("_had", "latest", "rescored")

    def __init__(self) -> None:
        self.latest: dict[str, float | None] = {}
        """The latest known."""
        self._had: dict[str, set[float | None]] = {}
        """Of ids that had several scores, all of them."""
        self.rescored: set[str] = set()
        """Ids that came back with another score."""

    def note(self, ids: Ids, scores: Sequence[float | None]) -> None:
        """Those of a list. Other ones are those that a passage never had."""
        if not scores:
            return
        if None not in scores and self.latest.keys().isdisjoint(ids) and len(set(ids)) == len(ids):
            self.latest.update(zip(ids, scores, strict=True))
            return
        before = self.latest.keys() & set(ids)
        for name, score in zip(ids, scores, strict=True):
            if score is None or self.latest.setdefault(name, score) == score:
                continue
            had = self._had.setdefault(name, set())
            had.add(self.latest[name])
            if name in before and score not in had:
                self.rescored.add(name)
            had.add(score)
            self.latest[name] = score
