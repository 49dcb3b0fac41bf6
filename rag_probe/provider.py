"""Tracer providers of the SDK, made and extended as the OTEL_* variables say."""

from __future__ import annotations

import atexit
from typing import Final, Protocol, runtime_checkable

from opentelemetry import trace

from rag_probe.faults import warn_once
from rag_probe.missing import MissingExtraError

try:
    from opentelemetry.sdk.resources import SERVICE_NAME, Resource
    from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    from rag_probe.exporters import exporters_from_environment
    from rag_probe.plugins import id_generator_from_environment, sampler_from_environment
    from rag_probe.sampling import KeepCases
except ModuleNotFoundError as error:
    raise MissingExtraError("configure", "otlp", error) from error

_own: Final[list[TracerProvider]] = []


@runtime_checkable
class _Extensible(Protocol):
    def add_span_processor(self, span_processor: SpanProcessor) -> None: ...


def set_up(service_name: str | None, *, keep_cases: bool) -> TracerProvider:
    """Make a provider and set it as the process's."""
    resource = Resource.create({SERVICE_NAME: service_name} if service_name else {})
    if str(resource.attributes.get(SERVICE_NAME, "")).startswith("unknown_service"):
        warn_once("service.name", "service.name is unknown: call configure('my-app') or set OTEL_SERVICE_NAME")
    provider = TracerProvider(
        resource=resource, sampler=sampler_from_environment(), id_generator=id_generator_from_environment()
    )
    if keep_cases:
        provider.sampler = KeepCases(provider.sampler)
    trace.set_tracer_provider(provider)
    _own.append(provider)
    return provider


def take_up_again(provider: object) -> bool:
    """Whether `provider` is one that `set_up` made; it is then shut down at exit, although it was shut down before."""
    for own in _own:
        if own is provider:
            atexit.unregister(own.shutdown)
            atexit.register(own.shutdown)
            return True
    return False


def add_exporters(provider: object) -> tuple[SpanProcessor, ...]:
    """Give `provider` a batch processor for each exporter that is asked for."""
    if not isinstance(provider, _Extensible):
        warn_once("join", "configure(join=True): %s takes no span processors", type(provider).__name__)
        return ()
    processors = tuple(BatchSpanProcessor(exporter) for exporter in exporters_from_environment())
    for processor in processors:
        provider.add_span_processor(processor)
    return processors
