"""Spans of this test alone, and a log that has said nothing yet."""

from __future__ import annotations

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from rag_probe import current, faults, staging
from rag_probe.policy import CapturePolicy


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


class FakeRun:
    """A framework's run, as an integration provides it."""

    def __init__(self, policy):
        self.policy = policy
        self.recorded = []
        self.told = []

    def record(self, stage, started_ns, ended_ns, error):
        assert started_ns <= ended_ns
        self.recorded.append((stage, error))

    def fail(self, kind, step, started_ns, ended_ns, error):
        assert started_ns <= ended_ns
        self.recorded.append((kind, step, error))

    def name_of(self, item):
        return None

    def tell(self, told):
        self.told.append(told)


@pytest.fixture
def run(monkeypatch):
    """A framework's run around this test."""
    run = FakeRun(CapturePolicy())
    monkeypatch.setattr(current, "_resolvers", [lambda: None, lambda: run])
    return run


@pytest.fixture
def broken_run(monkeypatch):
    """An integration that fails whenever it is asked."""

    def resolve():
        raise RuntimeError("theirs")

    monkeypatch.setattr(current, "_resolvers", [resolve])
