"""The signals of OTLP that nobody keeps here: acknowledged, said once, and dropped.

OpenTelemetry's distributions send them beside the spans, to one endpoint; a refusal would be an error in an app's log.
"""

from __future__ import annotations

import logging
from enum import StrEnum
from typing import Final

_logger: Final = logging.getLogger("rag_probe.collector")


class Unkept(StrEnum):
    """A signal, by the word that stands in its path and its service."""

    METRICS = "metrics"
    LOGS = "logs"

    @property
    def path(self) -> str:
        """Where it is posted to."""
        return f"/v1/{self}"

    @property
    def service(self) -> str:
        """What receives it over gRPC."""
        return f"opentelemetry.proto.collector.{self}.v1.{self.capitalize()}Service"


def unkept_at(path: str) -> Unkept | None:
    """The signal that is posted to `path`."""
    return next((signal for signal in Unkept if signal.path == path), None)


class Dropping:
    """Says of each signal once that it comes and is not kept. Safe to use from any thread."""

    def __init__(self) -> None:
        self._said: dict[Unkept, object] = {}

    def note(self, signal: Unkept) -> None:
        """One request of it came, and is dropped."""
        mine = object()
        if self._said.setdefault(signal, mine) is mine:
            _logger.warning(
                "%s come too: acknowledged and not kept, here are traces only; OTEL_%s_EXPORTER=none sends none",
                signal,
                signal.upper(),
            )
