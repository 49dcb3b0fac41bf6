"""The SDK's meter provider, made only when OTEL_METRICS_EXPORTER asks for one, and never in place of the app's."""

from __future__ import annotations

import atexit
from collections.abc import Sequence
from typing import Final

from opentelemetry import metrics
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import MetricReader
from opentelemetry.sdk.resources import Resource

from rag_probe.faults import warn_once
from rag_probe.readers import Way, ways_from_environment

_OWN: Final = "_rag_probe_own"
"""Marks a provider that this module made; on it, where it outlives a reload."""


def add_readers(resource: Resource, *, join: bool) -> tuple[Way, ...]:
    """What exports the process's metrics from now on; nothing where the app has a provider, unless to `join` it."""
    provider = metrics.get_meter_provider()
    missing = type(provider).__name__ == "_ProxyMeterProvider"  # the API's own stand-in has no public name
    if not (missing or join or hasattr(provider, _OWN)):
        return ()
    ways = tuple(ways_from_environment())
    if missing and ways:
        provider = MeterProvider([_reader(way) for way in ways], resource, shutdown_on_exit=False)
        setattr(provider, _OWN, True)
        metrics.set_meter_provider(provider)
    elif not _added(provider, ways):
        return ()
    for way in ways:
        atexit.register(way.shutdown)
    return ways


def _added(provider: object, ways: Sequence[Way]) -> bool:
    add = getattr(provider, "add_metric_reader", None)
    if add is None:
        if ways:
            warn_once("readers", "configure: this version of %s takes no more metric readers", type(provider).__name__)
        return False
    for way in ways:
        add(_reader(way))
    return True


def _reader(way: Way) -> MetricReader:
    return way if isinstance(way, MetricReader) else way.reader
