"""What a store holds of one thread: checkpoints, and the writes of the tasks that ran on each."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple, Protocol, cast

from rag_probe_langgraph.checkpoints.stored import Stored

PLUMBING: Final = ("branch:", "join:", "start:", "__")
"""How the names of LangGraph's own channels begin, by which it starts nodes; of older versions too."""
_OUTPUTS: Final = ("__end__", "__return__")
"""What the functional API returned."""
_NAMES: Final = {str}
_GREGORIAN: Final = 0x01B21DD213814000
"""100-ns intervals between the epoch of UUIDs, 1582-10-15, and ours."""


class Write(NamedTuple):
    """One value that a task wrote into one channel."""

    task: str
    path: str
    """The task's path in LangGraph's own spelling; "" where the store has none."""
    place: int
    """Among the task's writes; negative for LangGraph's own (errors, interrupts, answers)."""
    channel: str
    value: Stored
    """A `Blob`, or the value itself; None also where the channel was not asked for."""


@dataclass(slots=True, eq=False)
class Saved:
    """One checkpoint. The state that it holds is read apart, since it is large and seldom needed."""

    thread: str
    namespace: str
    id: str
    parent: str | None
    metadata: Mapping[str, object]
    writes: tuple[Write, ...]
    """Of the tasks that ran on it, in the order in which LangGraph applies them."""
    source: str | None = field(init=False)
    """`input`, `loop`, `update` or `fork`."""
    step: int | None = field(init=False)
    """The step that wrote it; its own tasks run in the next one."""
    at: int | None = field(init=False)
    """When it was written: nanoseconds since the epoch, from its id; None for an id without a time."""

    def __post_init__(self) -> None:
        source, step = self.metadata.get("source"), self.metadata.get("step")
        self.source = source if isinstance(source, str) else None
        self.step = step if isinstance(step, int) and not isinstance(step, bool) else None
        self.at = instant_of(self.id)


def is_of_the_app(channel: str) -> bool:
    """Whether it is one of the app's own, or holds what the app returned."""
    return not channel.startswith(PLUMBING) or channel in _OUTPUTS


class Store(Protocol):
    """A place that holds checkpoints. All raise `SourceError`; nothing of it is ever changed."""

    def threads(self) -> Mapping[str, str]:
        """Every thread by its first checkpoint, with the id of its newest one outside of subgraphs ("": none)."""
        ...

    def channels(self, thread: str, newest: str) -> Collection[str]:
        """Names of channels that a thread has, without reading it: of its writes, and of its newest checkpoint."""
        ...

    def saved(self, thread: str, channels: Collection[str] | None) -> list[Saved]:
        """Its checkpoints in all namespaces, with the values of these channels (None: of all), oldest first."""
        ...

    def checkpoint(self, saved: Saved) -> Mapping[str, object]:
        """LangGraph's own record: `channel_values` (the state, stored), `versions_seen`, `v`; empty if unreadable."""
        ...

    def pause(self) -> None:
        """Nothing is read for a while, as long as somebody looks at what was."""
        ...

    def close(self) -> None:
        """Let go of it."""
        ...


def state_of(checkpoint: Mapping[str, object]) -> Mapping[str, Stored]:
    """The state inside LangGraph's record."""
    return entries(checkpoint.get("channel_values"))


def entries(value: object) -> Mapping[str, object]:
    """`value` if it is a mapping, without keys that are no names; else an empty one."""
    if not isinstance(value, dict):
        return {}
    found = cast("Mapping[object, object]", value)
    if set(map(type, found)) <= _NAMES:
        return cast("Mapping[str, object]", found)
    return {name: item for name, item in found.items() if isinstance(name, str)}


def instant_of(checkpoint_id: str) -> int | None:
    """The time inside a version 6 UUID."""
    digits = checkpoint_id.replace("-", "")
    if len(digits) != 32 or digits[12] != "6":
        return None
    try:
        ticks = int(digits[:12], 16) << 12 | int(digits[13:16], 16)
    except ValueError:
        return None
    return (ticks - _GREGORIAN) * 100
