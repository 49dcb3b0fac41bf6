"""Metrics as a test wants to read them."""

from __future__ import annotations

from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader


class Metrics:
    """A provider of its own, and what was measured."""

    def __init__(self):
        self._reader = InMemoryMetricReader()
        self.provider = MeterProvider(metric_readers=[self._reader], shutdown_on_exit=False)

    def points(self):
        """Every metric by name, with its data points; a provider tells a cumulative figure anew each time."""
        data = self._reader.get_metrics_data()
        scopes = [scope for resource in (data.resource_metrics if data else ()) for scope in resource.scope_metrics]
        return {metric.name: metric.data.data_points for scope in scopes for metric in scope.metrics}

    def counts(self):
        """`{name: {labels: figure}}`: a counter's sum, a histogram's count; labels as sorted pairs."""
        return {
            name: {
                tuple(sorted(point.attributes.items())): getattr(point, "value", None) or getattr(point, "count", None)
                for point in points
            }
            for name, points in self.points().items()
        }

    def total(self, name):
        """Over all labels; 0 where nothing was measured."""
        return sum(self.counts().get(name, {}).values())
