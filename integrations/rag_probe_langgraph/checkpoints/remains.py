"""What a turn left in the state, where its steps are not in the store (`durability="exit"`, pruning, shallow savers).

A channel's version rises with each step that writes it, through all turns of a thread. So the channels of this turn are
those that are as new as the input that began it, and their versions tell the order in which they were written last.
What an earlier turn may have left is not read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final, NamedTuple, cast

from rag_probe.path import EvidencePath
from rag_probe_langgraph.checkpoints.plain import Reader
from rag_probe_langgraph.checkpoints.saved import Store, entries, is_of_the_app, state_of
from rag_probe_langgraph.checkpoints.turns import Turn

STATE: Final = "state"
"""Stands for the node: nobody knows which one wrote it."""
_START: Final = "__start__"
_FIRST: Final = 2
"""The version of the input that began a thread, once it was taken."""
_FIELDS: Final = (
    "question",
    "retrievals",
    "retrieved",
    "reranked",
    "filtered",
    "permissions",
    "context",
    "answer",
    "citations",
    "generations",
    "tools",
)


class Left(NamedTuple):
    """What a channel held at the end."""

    channel: str
    value: object
    given: bool
    """Whether it came with the input."""


def left_by(turn: Turn, store: Store, reader: Reader) -> list[Left]:
    """In the order of the last writes; nothing where the turn is whole, or where nobody can tell whose they are."""
    first = turn.saved[0]
    record = store.checkpoint(first)
    versions = {channel: _number(version) for channel, version in entries(record.get("channel_versions")).items()}
    began = versions.get(_START)
    if turn.whole or began is None or not (began <= _FIRST or turn.before is not None):
        return []
    new = {channel: version for channel, version in versions.items() if version is not None and version >= began}
    state = {name: held for name, held in state_of(record).items() if name in new and is_of_the_app(name)}
    old = None if began <= _FIRST else turn.before
    before: Mapping[str, object] = {} if old is None else state_of(store.checkpoint(old))
    ordered = sorted(state, key=lambda channel: (new[channel], channel))
    return [
        Left(channel, _own(reader.read(state[channel]), reader.read(before.get(channel))), new[channel] == began)
        for channel in ordered
    ]


def as_remains(path: EvidencePath) -> EvidencePath:
    """All that the state tells is inferred: a later step may have changed what an earlier one wrote.

    So passages that were retrieved may be missing, and no verdict that needs all of them can be reached.
    """
    known = [name for name in _FIELDS if getattr(path, name) is not None]
    cut = () if path.retrieved is None else ("retrieved", "retrievals.documents")
    return replace(
        path,
        inferred=tuple(dict.fromkeys((*path.inferred, *known))),
        not_captured=tuple(dict.fromkeys((*path.not_captured, *cut))),
    )


def _own(now: object, before: object) -> object:
    """Of a list that grows from turn to turn, what this turn added; one that is the same was written anew."""
    items = cast("list[object]", now) if isinstance(now, list) else []
    old = cast("list[object]", before) if isinstance(before, list) else []
    grew = bool(old) and len(items) > len(old) and items[: len(old)] == old
    return items[len(old) :] if grew else cast(object, now)


def _number(version: object) -> int | None:
    """Of `3`, `3.0`, `000…3.0.57…`."""
    whole = str(version).partition(".")[0]
    return int(whole) if whole.isascii() and whole.isdigit() and len(whole) < 64 else None
