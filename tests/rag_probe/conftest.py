"""Spans of this test alone, and a log that has said nothing yet."""

from __future__ import annotations

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from rag_probe import faults, staging


@pytest.fixture(autouse=True)
def _nothing_said_yet(monkeypatch):
    monkeypatch.setattr(faults, "_said", {})


@pytest.fixture
def exporter():
    """Holds every span that has ended."""
    return InMemorySpanExporter()


@pytest.fixture
def tracer(exporter, monkeypatch):
    """A tracer of a provider that is not the process's; `stage` uses it too."""
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("rag_probe", "test")
    monkeypatch.setattr(staging, "_tracer", tracer)
    return tracer
