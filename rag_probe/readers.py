"""From a meter provider to where OTEL_METRICS_EXPORTER points. Needs the extra `otlp`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TypeAlias

from opentelemetry import metrics
from opentelemetry.sdk.metrics.export import (
    MetricExporter,
    MetricExportResult,
    MetricReader,
    MetricsData,
    PeriodicExportingMetricReader,
)

from rag_probe.delivery import Line
from rag_probe.exporters import METRICS, OTLP, names_from_environment
from rag_probe.faults import warn_once
from rag_probe.plugins import plugin


class MetricDelivery(Line[MetricExporter], MetricExporter):
    """The line of metrics."""

    def __init__(self, exporter: MetricExporter, again: bool) -> None:
        """`again`: whether a forked child needs another one."""
        super().__init__(exporter, partial(type(exporter)) if again else None)
        # What the reader in front asks an exporter for; the SDK has no public name for it.
        self._preferred_temporality = exporter._preferred_temporality  # pyright: ignore[reportPrivateUsage]  # noqa: SLF001
        self._preferred_aggregation = exporter._preferred_aggregation  # pyright: ignore[reportPrivateUsage]  # noqa: SLF001

    def export(self, metrics_data: MetricsData, timeout_millis: float = 10_000, **_: object) -> MetricExportResult:
        """Export, or fail at once."""
        success = MetricExportResult.SUCCESS

        def export(way: MetricExporter) -> bool:
            return way.export(metrics_data, timeout_millis) is success  # pyright: ignore[reportUnknownMemberType]

        delivered = self.deliver(export)
        return success if delivered else MetricExportResult.FAILURE

    def shutdown(self, timeout_millis: float = 30_000, **_: object) -> None:  # noqa: ARG002
        """Give up what is being tried again and what still comes."""
        self.close()

    def force_flush(self, timeout_millis: float = 10_000) -> bool:  # noqa: ARG002
        """Nothing waits."""
        return True


class Pushing(PeriodicExportingMetricReader):
    """Exports every OTEL_METRIC_EXPORT_INTERVAL, and at the end."""

    def __init__(self, delivery: MetricDelivery) -> None:
        super().__init__(delivery)
        self._delivery = delivery
        self._ended = False

    @property
    def failures(self) -> int:
        """Batches that were not delivered."""
        return self._delivery.failures

    def hurry(self, seconds: float | None = None) -> None:
        """As for a line."""
        self._delivery.hurry(seconds)

    def give_up(self) -> None:
        """Stop trying."""
        self._delivery.shutdown()

    def shutdown(self, timeout_millis: float = 30_000, **_: object) -> None:
        """Export a last time, for as long as that may take; a second call does nothing."""
        if not self._ended:
            self._ended = True
            super().shutdown(min(timeout_millis, self._delivery.patience_ms))  # pyright: ignore[reportUnknownMemberType]
            _forget(self)


class Pulled:
    """A reader of another package that is asked from outside, as Prometheus does: nothing of it waits or fails."""

    failures = 0

    def __init__(self, reader: MetricReader) -> None:
        self.reader = reader
        self._ended = False

    def force_flush(self, timeout_millis: float = 10_000) -> bool:  # noqa: ARG002
        """Nothing waits."""
        return True

    def hurry(self, seconds: float | None = None) -> None:
        """As above."""

    def give_up(self) -> None:
        """As above."""

    def shutdown(self) -> None:
        """Stop it; a second call does nothing."""
        if not self._ended:
            self._ended = True
            _forget(self.reader)


Way: TypeAlias = Pushing | Pulled


def _forget(reader: MetricReader) -> None:
    """Have the process's provider, where it can, measure for it no longer; that stops it."""
    forget = getattr(metrics.get_meter_provider(), "remove_metric_reader", None)
    if forget is not None:
        forget(reader)


def ways_from_environment() -> Iterator[Way]:
    """One for each name in OTEL_METRICS_EXPORTER; none when it is not set, or `none`.

    Temporality, endpoint, headers, TLS, compression and timeout are read by the exporter itself. One that cannot be had
    is said once and left out.
    """
    for name in names_from_environment(METRICS, "none"):
        made = plugin(object, METRICS.group, name, METRICS.variable)
        match made:
            case MetricExporter():
                yield Pushing(MetricDelivery(made, name in OTLP))
            case MetricReader():
                yield Pulled(made)
            case None:
                pass
            case _:
                warn_once(name, "%s: %r exports no metrics; it is left out", METRICS.variable, name)
