"""What a reader has to know of how checkpoints were read: said in the log, each thing once, before its first use."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Final

from rag_probe_langgraph.checkpoints.path import Reading
from rag_probe_langgraph.checkpoints.plain import Reader
from rag_probe_langgraph.checkpoints.roles import Role, wanted

_logger: Final = logging.getLogger("rag_probe.checkpoints")
_MOST: Final = 200
"""Channels that are spoken of."""


class Told:
    """Remembers what was said."""

    def __init__(self, roles: Mapping[str, Role]) -> None:
        self._mapped = bool(wanted(roles))
        self._said: dict[str, None] = {}

    def tell(self, reading: Reading) -> None:
        """How new channels are read, and which are not."""
        news = [(channel, " then ".join(roles)) for channel, roles in reading.read_as.items() if self._is_new(channel)]
        idle = [channel for channel in reading.unmapped if self._is_new(channel)]
        parts = ["channels are read as " + ", ".join(f"{channel!r}: {role}" for channel, role in news)] if news else []
        if idle:
            parts.append("nothing is read from " + ", ".join(map(repr, idle)))
        if parts and not self._mapped:
            _logger.warning("%s (another reading: --map FILE)", "; ".join(parts))

    def held_back(self, reader: Reader) -> None:
        """Which classes were not built, and what stayed closed."""
        often = sorted(reader.held_back.items(), key=lambda each: -each[1])
        for what, count in often[:_MOST]:
            _logger.warning("%d values arrive as plain data or not at all: %r%s", count, what, _remedy(what))

    def _is_new(self, channel: str) -> bool:
        if channel in self._said or len(self._said) >= _MOST:
            return False
        self._said[channel] = None
        return True


def _remedy(what: str) -> str:
    encrypted = what.startswith("encrypted (")
    return "; in Python, open_checkpoints(…, serde=…) takes the serialiser with its key" if encrypted else ""
