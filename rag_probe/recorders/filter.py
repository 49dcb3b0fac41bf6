"""A filter, told passage by passage."""

from __future__ import annotations

from collections.abc import Sequence

from rag_probe.recorders.recorder import Recorder, known, words
from rag_probe.stages import Filtering


class FilterRecorder(Recorder):
    """`with stage("filter") as s`."""

    kind = "filter"

    def __init__(self, step: str | None) -> None:
        super().__init__(step)
        self._kept: list[str] | None = None
        self._dropped: list[tuple[str, str | None]] = []

    def keep(self, *items: object) -> None:
        """These passages go on; with none, it is a fact that nothing did.

        Where all lack an id, it is not known what did.
        """
        self.noted = True
        names = [name for item in items if (name := self._id(item)) is not None]
        if names or not items:
            self._kept = [*(self._kept or ()), *names]

    def drop(self, item: object, reason: str | None = None) -> None:
        """A passage that does not; `reason` is a short code, as `superseded`."""
        name = self._id(item)
        if name is not None:
            self._dropped.append((name, words(reason)))

    def stage(self) -> Filtering:
        """Both lists, each in the order of the calls. Where only drops were told, what passed was not."""
        return Filtering(
            step=self.step,
            kept=None if self._kept is None else tuple(self._kept),
            dropped=tuple(name for name, _ in self._dropped),
            reasons=known(reason for _, reason in self._dropped),
        )

    def flowed(self, given: Sequence[str], returned: Sequence[str]) -> None:
        """What came back is kept, the rest dropped."""
        self.keep(*returned)
        through = set(returned)
        for item in given:
            if item not in through:
                self.drop(item)
