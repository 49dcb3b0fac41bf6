"""What the demo says when its parts cannot start; the whole of it is run in tests/end_to_end."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_probe_collector.cli import demo
from rag_probe_collector.errors import InputError


def test_a_collector_that_cannot_start_says_why_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"demo: the collector did not start: .*cannot be opened") as raised:
        demo._collector(tmp_path, tmp_path).__enter__()
    assert "\n" not in str(raised.value)


def test_a_collector_that_is_not_ready_in_time_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "READY_S", 0.0)
    with pytest.raises(InputError, match="did not start"):
        demo._collector(tmp_path / "demo.db", tmp_path).__enter__()


def test_the_apps_send_to_our_collector_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """must-handle 42: nothing is sent anywhere that nobody configured."""
    for name in ("OTEL_EXPORTER_OTLP_HEADERS", "LANGSMITH_API_KEY", "LANGCHAIN_TRACING_V2", "RAG_PROBE_ANYTHING"):
        monkeypatch.setenv(name, "elsewhere")
    monkeypatch.setenv("OPENAI_API_KEY", "a real model needs it")
    monkeypatch.setenv("no_proxy", "example.org")
    environment = demo._environment("grpc", "http://127.0.0.1:1")
    assert "elsewhere" not in environment.values()
    assert environment["OPENAI_API_KEY"]
    assert environment["no_proxy"] == "example.org,127.0.0.1"
    assert environment["OTEL_EXPORTER_OTLP_ENDPOINT"] == "http://127.0.0.1:1"


def test_a_package_without_the_apps_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "find_spec", lambda _: None)
    with pytest.raises(InputError, match=r"pip install 'rag-probe-otel\[demo\]'"):
        demo._shipped()
