"""From a provider to an OTLP endpoint: over forks, to an end that does not take long, with word of what was lost."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Final

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult

_left_alone: Final[list[SpanExporter]] = []
"""Exporters of parent processes: collected, they would close connections that are not this process's."""


class Delivery(SpanExporter):
    """Hands spans to an exporter of this process, and counts what it could not deliver.

    A forked child inherits open connections, and what two processes write into one of them nobody can read: where
    `make` is given, the child gets an exporter of its own. Once `hurried`, the first failure is the last try, so that
    an endpoint that is down keeps a process for one OTEL_EXPORTER_OTLP_TIMEOUT, not for one with every batch.
    """

    def __init__(self, exporter: SpanExporter, make: Callable[[], SpanExporter | None] | None) -> None:
        """`make`: another one like `exporter`, or None when none is to be had; None for one that may be shared."""
        self._exporter: SpanExporter | None = exporter
        self._make = make
        self._process = os.getpid()
        self.failures = 0
        """Batches that were not delivered."""
        self.hurried = False
        self._over = False

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Export, or fail at once where that is known to be in vain."""
        exporter = self._of_this_process()
        result = SpanExportResult.FAILURE if exporter is None or self._over else exporter.export(spans)
        if result is not SpanExportResult.SUCCESS:
            self.failures += 1
            self._over = self.hurried
        return result

    def shutdown(self) -> None:
        """Give up what is being tried again and what still comes; a second call does nothing."""
        exporter, self._exporter = self._exporter, None
        if exporter is not None and self._process == os.getpid():
            exporter.shutdown()
        elif exporter is not None:
            _left_alone.append(exporter)

    def force_flush(self, timeout_millis: int = 30000) -> bool:  # noqa: ARG002
        """What waits, waits in the processor in front, which never calls this."""
        return True

    def _of_this_process(self) -> SpanExporter | None:
        if self._process != os.getpid():
            self._process = os.getpid()
            if self._exporter is not None and self._make is not None:
                _left_alone.append(self._exporter)
                self._exporter = self._make()
        return self._exporter


class Outlet(BatchSpanProcessor):
    """A batch processor in front of a delivery."""

    def __init__(self, delivery: Delivery) -> None:
        super().__init__(delivery)
        self._delivery = delivery

    @property
    def failures(self) -> int:
        """Batches that were not delivered."""
        return self._delivery.failures

    def hurry(self) -> None:
        """From now on the first failure is the last try."""
        self._delivery.hurried = True

    def give_up(self) -> None:
        """Drop what waits, and stop trying."""
        self._delivery.shutdown()
