"""A new order, told passage by passage."""

from __future__ import annotations

from collections.abc import Sequence

from rag_probe.measured import number
from rag_probe.recorders.recorder import Recorder, known
from rag_probe.stages import Rerank


class RerankRecorder(Recorder):
    """`with stage("rerank") as s`."""

    kind = "rerank"

    def __init__(self, step: str | None) -> None:
        super().__init__(step)
        self._rows: list[tuple[str, float | None]] = []

    def rank(self, item: object, score: float | None = None) -> None:
        """The next passage of the new order."""
        name = self._id(item)
        if name is not None:
            self._rows.append((name, number(score)))

    def stage(self) -> Rerank:
        """The new order, with the scores that are known."""
        return Rerank(
            step=self.step,
            ids=tuple(name for name, _ in self._rows),
            scores=known(score for _, score in self._rows),
        )

    def flowed(self, given: Sequence[str], returned: Sequence[str]) -> None:  # noqa: ARG002  # the order is what counts
        """What came back, in its order."""
        for item in returned:
            self.rank(item)
