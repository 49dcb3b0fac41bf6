"""The draft that a task reads: the last answer that was written before its step, not the last of all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class Draft(NamedTuple):
    """An answer that was written. One that is written again, by a later task, is another one."""

    text: str
    channel: str
    named: bool
    """Whether its channel says that it holds the answer; one that does comes before text that only may be one."""
    write: int
    """The write that it came of, counted."""


@dataclass(slots=True)
class _State:
    """The drafts of one graph: what its tasks read, and what they leave to those of the next step."""

    at: str
    """The checkpoint on which they run."""
    read: Draft | None
    left: Draft | None


class Drafts:
    """The drafts of a turn, in the order in which its tasks are read; a subgraph begins with those around it."""

    def __init__(self) -> None:
        self._states: dict[str, _State] = {}
        self._state = _State("", None, None)
        self._writes = 0
        self._own: list[Draft] = []
        """What the task wrote itself."""

    @property
    def read(self) -> Draft | None:
        """What the task found in its state."""
        return self._state.read

    def begin(self, namespace: str, checkpoint: str) -> None:
        """A task of this graph, on this checkpoint, is next."""
        self._own = []
        state = self._states.get(namespace)
        if state is None:
            around = self._states.get(namespace.rpartition("|")[0])
            found = None if around is None else around.read
            state = self._states[namespace] = _State(checkpoint, found, found)
        elif state.at != checkpoint:
            state.at, state.read = checkpoint, state.left
        self._state = state

    def wrote(self, channel: str, text: str, *, named: bool) -> None:
        """The task wrote an answer, or what may be one; a blank one takes away what its channel held."""
        self._writes += 1
        left = self._state.left
        if not text.strip():
            self._state.left = None if left is not None and left.channel == channel else left
            return
        draft = Draft(text, channel, named, self._writes)
        self._own.append(draft)
        if left is None or named or not left.named:
            self._state.left = draft

    def own(self, read: Draft | None) -> Draft | None:
        """What the task wrote as a draft, or in place of the one that it read; other text is something else."""
        found = [one for one in self._own if one.named or read is None or one.channel == read.channel]
        return next((one for one in reversed(found) if one.named), found[-1] if found else None)

    def hand_on(self) -> None:
        """The task wrote its whole state again: the draft in it is still the one that it read."""
        read, left = self._state.read, self._state.left
        if read is not None and left is not None and left in self._own and left.text == read.text:
            self._state.left = read
