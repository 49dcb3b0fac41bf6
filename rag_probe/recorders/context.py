"""The assembly of a prompt's context, told passage by passage."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast

from rag_probe.faults import warn_once
from rag_probe.identifiers import identifier
from rag_probe.measured import whole
from rag_probe.recorders.recorder import Recorder, known, words
from rag_probe.stages import Budget, ContextAssembly, Range


class ContextRecorder(Recorder):
    """`with stage("context", limit=620, tokenizer="cl100k_base") as s`."""

    kind = "context"

    def __init__(self, step: str | None, limit: int | None, tokenizer: str | None) -> None:
        super().__init__(step)
        self._limit = whole(limit)
        self._tokenizer = identifier(tokenizer)
        self._rows: list[tuple[str, int | None, bool | None, tuple[Range, ...]]] = []
        self._dropped: list[tuple[str, str | None]] = []

    def add(
        self,
        item: object,
        tokens: int | None = None,
        truncated: bool | None = None,
        kept: Iterable[Range] | None = None,
    ) -> None:
        """The next passage of the prompt; `kept` are the ranges of its own text that are in it, when it was cut."""
        name = self._id(item)
        if name is not None:
            cut = truncated if isinstance(truncated, bool) else None
            self._rows.append((name, whole(tokens), cut, _ranges(kept)))

    def drop(self, item: object, reason: str | None = None) -> None:
        """A passage that was left out; `reason` is a short code, as `budget`."""
        name = self._id(item)
        if name is not None:
            self._dropped.append((name, words(reason)))

    @property
    def budget(self) -> Budget | None:
        """The limit as told; used is the sum over all passages, when the tokens of each are known."""
        tokens = [row[1] for row in self._rows]
        known = [count for count in tokens if count is not None]
        used = sum(known) if known and len(known) == len(tokens) else None
        budget = Budget(limit=self._limit, used=used, tokenizer=self._tokenizer)
        return None if budget == Budget() else budget

    def stage(self) -> ContextAssembly:
        """The passages in prompt order, and what was left out."""
        kept = tuple(row[3] for row in self._rows)
        return ContextAssembly(
            step=self.step,
            ids=tuple(row[0] for row in self._rows),
            tokens=known(row[1] for row in self._rows),
            truncated=known(row[2] for row in self._rows),
            kept=kept if any(kept) else (),
            dropped=tuple(name for name, _ in self._dropped),
            dropped_reasons=known(reason for _, reason in self._dropped),
            budget=self.budget,
        )

    def flowed(self, given: Sequence[str], returned: Sequence[str]) -> None:
        """What came back is in the prompt, the rest left out."""
        for item in returned:
            self.add(item)
        through = set(returned)
        for item in given:
            if item not in through:
                self.drop(item)


def _ranges(ranges: object) -> tuple[Range, ...]:
    if not isinstance(ranges, (list, tuple)):
        return ()
    kept = tuple(_range(item) for item in cast("Sequence[object]", ranges))
    if None in kept:
        warn_once("kept", "stage('context'): kept is a list of (start, end) in characters; it is left out")
        return ()
    return tuple(part for part in kept if part is not None)


def _range(item: object) -> Range | None:
    if not isinstance(item, (list, tuple)):
        return None
    ends = [whole(end) for end in cast("Sequence[object]", item)]
    match ends:
        case [int() as start, int() as end] if start <= end:
            return start, end
        case _:
            return None
