"""The tasks of a turn: which node ran on which checkpoint, and how it ended."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Final, NamedTuple, cast

from rag_probe.stages import NodeOutcome
from rag_probe_langgraph.checkpoints.built import Asked, Sent
from rag_probe_langgraph.checkpoints.naming import Namer
from rag_probe_langgraph.checkpoints.plain import Reader
from rag_probe_langgraph.checkpoints.saved import PLUMBING, Saved, Store, Write, entries, state_of
from rag_probe_langgraph.checkpoints.stored import Unreadable
from rag_probe_langgraph.checkpoints.turns import Inner, Turn

_NOBODY: Final = "00000000-0000-0000-0000-000000000000"
"""Task id of what the caller wrote: the answer to an interrupt."""
EDIT: Final = "update_state"
_START: Final = "__start__"
_ERROR: Final = "__error__"
_INTERRUPT: Final = "__interrupt__"
_RESUME: Final = "__resume__"
_NO_WRITES: Final = "__no_writes__"
_SPECIAL: Final = frozenset({_ERROR, _INTERRUPT, _RESUME, _NO_WRITES, "__scheduled__"})


class Task(NamedTuple):
    """One task. Its start and end are the bounds of its superstep: nothing closer is stored."""

    node: str | None
    """None: the store does not tell."""
    id: str
    saved: Saved
    """The checkpoint that it ran on."""
    writes: tuple[Write, ...]
    """Those into channels of the app, in order."""
    outcome: NodeOutcome | None
    """None of an edit from outside (`update_state`), and of what a node wrote whose subgraph stands before it."""
    until: int | None
    """When the checkpoint after it was written; None while there is none."""
    error: str | None = None
    """The repr of what it raised last, also where it recovered."""
    asked: str | None = None
    """What it asked last, when it paused."""
    answered: str | None = None
    """What somebody answered to that."""
    sent: Sent | None = None
    """Its own input, which it reads instead of the state."""

    @property
    def is_start(self) -> bool:
        """Whether it is LangGraph's own, which writes the input into the channels."""
        return self.node == _START


def tasks_of(turn: Turn, store: Store, reader: Reader) -> list[Task]:
    """All tasks in the order of the steps, those of a subgraph after the node that they stand in."""
    return list(_along(turn.saved, turn.inner, store, reader, ""))


def _along(chain: Iterable[Saved], inner: Inner, store: Store, reader: Reader, namespace: str) -> Iterator[Task]:
    before = None
    for saved, after in pairwise([*chain, None]):
        assert saved is not None
        namer = Namer(saved, before, after, store, reader)
        before = saved
        edited = after is not None and after.source in ("update", "fork")
        for task_id, writes in _by_task(saved).items():
            node, sent = namer.name(task_id, writes[0].path)
            task = _task(saved, after, task_id, node, writes, reader)._replace(sent=sent)
            if edited and task.outcome in ("ok", "no_write"):
                continue  # it belongs to the branch that went on without the edit
            within = f"{namespace}{node}:{task_id}"
            inside = inner.of_task.get(within)
            if inside is None:
                within = f"{namespace}{node}"
                inside = inner.kept.get((within, saved.namespace, saved.id))
            if not inside:
                yield task
            else:  # its own writes come after those of the subgraph inside it
                yield task._replace(writes=())
                yield from _along(inside, inner, store, reader, f"{within}|")
                yield task._replace(outcome=None)
        if edited and after is not None:
            yield _edit(saved, after, store)


def _by_task(saved: Saved) -> dict[str, list[Write]]:
    found: dict[str, list[Write]] = {}
    for write in saved.writes:
        if write.task != _NOBODY:
            found.setdefault(write.task, []).append(write)
    return found


def _task(
    saved: Saved, after: Saved | None, task_id: str, node: str | None, writes: list[Write], reader: Reader
) -> Task:
    channels = {write.channel for write in writes}
    error = next((_said(reader.read(write.value)) for write in writes if write.channel == _ERROR), None)
    return Task(
        node=node,
        id=task_id,
        saved=saved,
        writes=tuple([write for write in writes if write.channel not in _SPECIAL]),
        outcome=_outcome(channels, went_on=after is not None),
        until=None if after is None else after.at,
        error=error,
        asked=_last(_INTERRUPT, writes, reader),
        answered=_last(_RESUME, writes, reader),
    )


def _edit(saved: Saved, after: Saved, store: Store) -> Task:
    """What somebody wrote into the state from outside (`update_state`): only the new state shows it."""
    old, new = (entries(store.checkpoint(one).get("channel_versions")) for one in (saved, after))
    state = state_of(store.checkpoint(after))
    writes = [
        Write(EDIT, "", place, channel, state[channel])
        for place, channel in enumerate(sorted(state))
        if new.get(channel) != old.get(channel) and not channel.startswith(PLUMBING)
    ]
    return Task(EDIT, EDIT, saved, tuple(writes), None, after.at)


def _said(error: object) -> str:
    """What is known of a failure: that it was one, where its text stays closed."""
    return "error" if isinstance(error, Unreadable) else str(error)[:200]


def _last(channel: str, writes: list[Write], reader: Reader) -> str | None:
    """The last question or answer of a task, as text; several are kept in one list."""
    for write in writes:
        if write.channel == channel:
            found = reader.read(write.value)
            several = cast("list[object]", found) if isinstance(found, list) else [found]
            last = several[-1] if several else None
            value = last.value if isinstance(last, Asked) else last
            if isinstance(value, Unreadable):
                return None
            return value if isinstance(value, str) else json.dumps(value, default=str, ensure_ascii=False)
    return None


def _outcome(channels: set[str], *, went_on: bool) -> NodeOutcome:
    wrote = bool(channels - _SPECIAL)
    if _ERROR in channels:
        return "recovered" if wrote or went_on else "error"
    if _INTERRUPT in channels or _RESUME in channels:
        return "answered" if wrote or _NO_WRITES in channels or went_on else "interrupted"
    return "ok" if wrote else "no_write"
