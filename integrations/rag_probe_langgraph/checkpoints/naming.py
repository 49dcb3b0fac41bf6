"""Which node a task ran: its path says it, else its id, which is a hash of the name; else nobody knows."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple, cast

from xxhash import xxh3_128_hexdigest

from rag_probe_langgraph.checkpoints.built import Sent
from rag_probe_langgraph.checkpoints.plain import Reader
from rag_probe_langgraph.checkpoints.saved import Saved, Store, entries, state_of

_PULL: Final = "__pregel_pull"
_PUSH: Final = "__pregel_push"
_SENDS: Final = "__pregel_tasks"
_BRANCH: Final = "branch:to:"
_HEX: Final = re.compile("[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}")


class Named(NamedTuple):
    """A node, or None; and what it was sent, if it runs on an input of its own."""

    node: str | None
    sent: Sent | None = None


_UNKNOWN: Final = Named(None)


class Namer:
    """Names the tasks of one checkpoint; the state is read only when a task cannot be named without it."""

    def __init__(self, saved: Saved, before: Saved | None, after: Saved | None, store: Store, reader: Reader) -> None:
        self._saved = saved
        self._before = before
        self._after = after
        self._store = store
        self._reader = reader
        self._sends: Sequence[object] | None = None
        self._known: Mapping[str, object] | None = None

    def name(self, task_id: str, path: str) -> Named:
        """The task's node."""
        kind, *rest = path.removeprefix("~").split(", ")
        if kind == _PULL and rest:
            return Named(", ".join(rest))
        if kind == _PUSH and rest and rest[0].isdecimal():
            return self._sent(int(rest[0]))
        return _UNKNOWN if path else next((named for named, known in self._hashed() if known == task_id), _UNKNOWN)

    def _sent(self, place: int) -> Named:
        sends = self._state()
        sent = sends[place] if place < len(sends) else None
        return Named(sent.node, sent) if isinstance(sent, Sent) else _UNKNOWN

    def _state(self) -> Sequence[object]:
        if self._sends is None:
            found = self._reader.read(state_of(self._record()).get(_SENDS))
            self._sends = cast("Sequence[object]", found) if isinstance(found, list) else self._sent_before()
        return self._sends

    def _sent_before(self) -> Sequence[object]:
        """Until checkpoints of version 4, what was sent stood only among the writes of the one before."""
        before = self._before
        if before is None or before.id != self._saved.parent:
            return ()
        return [self._reader.read(write.value) for write in before.writes if write.channel == _SENDS]

    def _record(self) -> Mapping[str, object]:
        if self._known is None:
            self._known = self._store.checkpoint(self._saved)
        return self._known

    def _hashed(self) -> Iterator[tuple[Named, str]]:
        """Every node that may have run on this checkpoint, and the id that its task would have.

        Only the ids that LangGraph gives can be hashed.
        """
        if not _HEX.fullmatch(self._saved.id):
            return
        outer = self._saved.namespace.rpartition("|")[0] if "|" in self._saved.namespace else ""
        above = self._saved.namespace
        for named, name, parts in self._candidates():
            inside = f"{above}|{name}" if above else name
            yield named, self._id(inside, name, parts)
            if outer:
                yield named, self._id(f"{outer}|{name}", name, parts)

    def _candidates(self) -> Iterator[tuple[Named, str, tuple[str, ...]]]:
        yield Named("__start__"), "__start__", (_PULL, "__start__")
        for place, sent in enumerate(self._state()):
            if isinstance(sent, Sent):
                yield Named(sent.node, sent), sent.node, (_PUSH, str(place))
        for name, parts in self._pulled():
            yield Named(name), name, parts

    def _pulled(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        for channel in state_of(self._record()):
            if channel.startswith(_BRANCH):
                yield channel.removeprefix(_BRANCH), (_PULL, channel)
        if self._after is not None:
            for name, seen in entries(self._store.checkpoint(self._after).get("versions_seen")).items():
                yield name, (_PULL, *sorted(entries(seen)))

    def _id(self, namespace: str, name: str, parts: Iterable[str]) -> str:
        step = (self._saved.step if self._saved.step is not None else -2) + 1
        words = "".join((namespace, str(step), name, *parts)).encode(errors="surrogatepass")
        seed = bytes.fromhex(self._saved.id.replace("-", ""))
        if self._record().get("v") == 1:
            return _grouped(hashlib.sha1(seed + words, usedforsecurity=False).hexdigest())
        return _grouped(xxh3_128_hexdigest(seed + words))


def _grouped(digits: str) -> str:
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:32]}"
