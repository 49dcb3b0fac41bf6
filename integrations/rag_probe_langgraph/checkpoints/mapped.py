"""Whether the names of a mapping are channels: asked of a few threads before any is read, then of each that is read."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Final

from rag_probe.protocols import SourceError
from rag_probe_langgraph.checkpoints.roles import Role, wanted
from rag_probe_langgraph.checkpoints.saved import PLUMBING, Saved, Store

_logger: Final = logging.getLogger("rag_probe.checkpoints")
_LOOKED_AT: Final = 10
"""Threads at either end: a channel may have been renamed since the first ones."""
_MOST: Final = 200
"""Channels that are remembered, and compared with."""
_SHOWN: Final = 20


class Mapped:
    """Tells of names that no channel has as soon as that is known; a channel may yet come in a later thread."""

    def __init__(self, roles: Mapping[str, Role]) -> None:
        self._roles = roles
        self._names = frozenset(wanted(roles) or ())
        self._missing = set(self._names)
        self._there: dict[str, None] = {}
        self._closed = False
        """Whether a thread shows no channel of the app: what it holds is encrypted, or gone."""
        self._told = False

    def ask(self, store: Store, threads: Mapping[str, str]) -> None:
        """Look into some threads, given with their newest checkpoints.

        Raises SourceError where these are all there are, and none of them has any of the names.
        """
        some = _ends(list(threads))
        for thread in some:
            if self._missing:
                self._note(store.channels(thread, threads[thread]))
        if len(some) == len(threads):
            self.end(everything=True)
        elif self._missing and self._there:
            _logger.warning(
                "--map: none of the %d threads looked at has %s; read on, since it may come later",
                len(some),
                self._odd(),
            )

    def read(self, saved: Iterable[Saved]) -> Mapping[str, Role]:
        """The mapping for a thread; silence in a channel of answers that nobody has seen yet is no abstention."""
        if self._missing:
            self._note({write.channel for one in saved for write in one.writes})
        unseen = {channel for channel in self._missing if self._roles[channel] in ("answer", "messages")}
        return {channel: "ignore" if channel in unseen else role for channel, role in self._roles.items()}

    def end(self, *, everything: bool) -> None:
        """Tell what is missing, once; raises SourceError where everything was read and no name is a channel."""
        if self._told or not self._missing or not self._there:
            return
        self._told = True
        if everything and not self._closed and self._missing >= self._names:
            raise SourceError(f"--map: names no channel of these checkpoints: {self._odd()}")
        _logger.warning("--map: no question holds %s", self._odd())

    def _note(self, channels: Iterable[str]) -> None:
        names = [name for name in channels if not name.startswith(PLUMBING) or name in self._names]
        self._closed = self._closed or not names
        self._missing.difference_update(names)
        self._there |= dict.fromkeys(sorted(names)[: _MOST - len(self._there)])

    def _odd(self) -> str:
        known = list(self._there)
        named = ", ".join(_with_likely(name, known) for name in sorted(self._missing))
        return f"{named}; there are {', '.join(map(repr, known[:_SHOWN]))}"


def _with_likely(name: str, known: Sequence[str]) -> str:
    likely = get_close_matches(name, known, 1)
    return f"{name!r} (did you mean {likely[0]!r}?)" if likely else repr(name)


def _ends(threads: Sequence[str]) -> Sequence[str]:
    """The newest first."""
    last = threads[-_LOOKED_AT:][::-1]
    return [*last, *threads[: min(_LOOKED_AT, len(threads) - len(last))]]
