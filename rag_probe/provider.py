"""Tracer providers of the SDK, made and extended as the OTEL_* variables say."""

from __future__ import annotations

import atexit
import os
from typing import Final, Protocol, runtime_checkable

from opentelemetry import trace

from rag_probe.faults import warn_once
from rag_probe.identifiers import MAX_ID
from rag_probe.missing import MissingExtraError

try:
    from opentelemetry.sdk.resources import SERVICE_NAME, Resource
    from opentelemetry.sdk.trace import SpanProcessor, TracerProvider

    from rag_probe import meter_provider
    from rag_probe.delivery import Outlet
    from rag_probe.exporters import deliveries_from_environment
    from rag_probe.plugins import id_generator_from_environment, sampler_from_environment
    from rag_probe.readers import Way
    from rag_probe.sampling import KeepCases
except ModuleNotFoundError as error:
    raise MissingExtraError("configure", "otlp", error) from error


_LOST: Final = "spans lose what they say"
_CUT: Final = "ids are cut, and no longer those of your cases"
_LIMITS: Final = (
    ("OTEL_ATTRIBUTE_COUNT_LIMIT", 64, _LOST),
    ("OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", 64, _LOST),
    ("OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT", MAX_ID, _CUT),
    ("OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT", MAX_ID, _CUT),
)
"""Of the SDK: the least that is enough."""


@runtime_checkable
class _Extensible(Protocol):
    def add_span_processor(self, span_processor: SpanProcessor) -> None: ...


def set_up(service_name: str | None, *, keep_cases: bool) -> TracerProvider:
    """Make a provider and set it as the process's."""
    resource = _resource(service_name)
    if str(resource.attributes.get(SERVICE_NAME, "")).startswith("unknown_service"):
        warn_once("service.name", "service.name is unknown: call configure('my-app') or set OTEL_SERVICE_NAME")
    provider = TracerProvider(
        resource=resource, sampler=sampler_from_environment(), id_generator=id_generator_from_environment()
    )
    _say_limits()
    if keep_cases:
        provider.sampler = KeepCases(provider.sampler)
    trace.set_tracer_provider(provider)
    return provider


def _say_limits() -> None:
    for name, least, what in _LIMITS:
        value = os.environ.get(name, "").strip()
        if value.isdecimal() and int(value) < least:
            warn_once(name, "%s=%s: %s; set it to %d or more", name, value, what, least)


def shut_down_at_exit(provider: object) -> None:
    """Have a provider that `set_up` made shut down at exit, also when it was shut down before."""
    if isinstance(provider, TracerProvider):
        atexit.unregister(provider.shutdown)
        atexit.register(provider.shutdown)


def service_of(provider: object) -> str:
    """Under which name it exports; blank for a provider of another kind."""
    return str(provider.resource.attributes.get(SERVICE_NAME, "")) if isinstance(provider, TracerProvider) else ""


def add_readers(provider: object, service_name: str | None, *, join: bool) -> tuple[Way, ...]:
    """What exports metrics when that is asked for, under the resource of the spans."""
    resource = provider.resource if isinstance(provider, TracerProvider) else _resource(service_name)
    return meter_provider.add_readers(resource, join=join)


def _resource(service_name: str | None) -> Resource:
    return Resource.create({SERVICE_NAME: service_name} if service_name else {})


def add_exporters(provider: object) -> tuple[Outlet, ...]:
    """Give `provider` a batch processor for each exporter that is asked for."""
    if not isinstance(provider, _Extensible):
        warn_once("join", "configure(join=True): %s takes no span processors", type(provider).__name__)
        return ()
    outlets = tuple(Outlet(delivery) for delivery in deliveries_from_environment())
    for outlet in outlets:
        provider.add_span_processor(outlet)
    return outlets
