"""From a provider to an OTLP endpoint: over forks, to an end that does not take long, with word of what was lost."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from time import monotonic
from typing import Final, Generic, Protocol, TypeVar

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult

_PATIENCE_MS: Final = 30_000
"""As long as the SDK waits."""
_LEAST_MS: Final = 500
"""For a line whose turn comes when the others have taken all the time."""

_left_alone: Final[list[object]] = []
"""Exporters of parent processes: collected, they would close connections that are not this process's."""


class _Exporter(Protocol):
    def shutdown(self) -> None: ...


E = TypeVar("E", bound=_Exporter)


class Line(Generic[E]):
    """Hands something to an exporter of this process, and counts what it could not deliver.

    A forked child inherits open connections, and what two processes write into one of them nobody can read: where
    `make` is given, the child gets an exporter of its own. Once it is to `hurry`, the first failure is the last try, so
    that an endpoint that is down keeps a process once, not with every batch.
    """

    def __init__(self, exporter: E, make: Callable[[], E | None] | None) -> None:
        """`make`: another one like `exporter`, or None when none is to be had; None for one that may be shared."""
        self._exporter: E | None = exporter
        self._make = make
        self._process = os.getpid()
        self.failures = 0
        """Batches that were not delivered."""
        self.hurried = False
        self._over = False
        self._until: float | None = None

    def hurry(self, seconds: float | None) -> None:
        """From now on the first failure is the last try; with `seconds`, the end waits no longer than that from now."""
        self.hurried = True
        self._until = None if seconds is None else monotonic() + seconds

    @property
    def patience_ms(self) -> int:
        """Milliseconds that the end may still take."""
        return _PATIENCE_MS if self._until is None else max(_LEAST_MS, int((self._until - monotonic()) * 1000))

    def deliver(self, export: Callable[[E], bool]) -> bool:
        """Whether it was delivered; not tried where that is known to be in vain. Raises what the exporter does."""
        exporter = self._of_this_process()
        delivered = False
        try:
            delivered = exporter is not None and not self._over and export(exporter)
        finally:
            if not delivered:
                self.failures += 1
                self._over = self.hurried
        return delivered

    def close(self) -> None:
        """Give up what is being tried again and what still comes; a second call does nothing."""
        exporter, self._exporter = self._exporter, None
        if exporter is not None and self._process == os.getpid():
            exporter.shutdown()
        elif exporter is not None:
            _left_alone.append(exporter)

    def _of_this_process(self) -> E | None:
        if self._process != os.getpid():
            self._process = os.getpid()
            if self._exporter is not None and self._make is not None:
                _left_alone.append(self._exporter)
                self._exporter = self._make()
        return self._exporter


class Delivery(Line[SpanExporter], SpanExporter):
    """The line of spans."""

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Export, or fail at once."""
        success = SpanExportResult.SUCCESS
        return success if self.deliver(lambda way: way.export(spans) is success) else SpanExportResult.FAILURE

    def shutdown(self) -> None:
        """Give up what is being tried again and what still comes."""
        self.close()

    def force_flush(self, timeout_millis: int = 30000) -> bool:  # noqa: ARG002
        """What waits, waits in the processor in front, which never calls this."""
        return True


class Outlet(BatchSpanProcessor):
    """A batch processor in front of a delivery."""

    def __init__(self, delivery: Delivery) -> None:
        super().__init__(delivery)
        self._delivery = delivery

    @property
    def failures(self) -> int:
        """Batches that were not delivered."""
        return self._delivery.failures

    def hurry(self, seconds: float | None = None) -> None:
        """As for a line."""
        self._delivery.hurry(seconds)

    def give_up(self) -> None:
        """Drop what waits, and stop trying."""
        self._delivery.shutdown()

    def shutdown(self) -> None:
        """Send what waits, for as long as that may take; the SDK's own processor would wait for half a minute."""
        self._batch_processor.shutdown(timeout_millis=self._delivery.patience_ms)
