"""The way that spans travel leaves no mark on what they say (must show 4)."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.exporter.otlp.common.http import Compression as JsonCompression
from opentelemetry.exporter.otlp.json.http.trace_exporter import OTLPSpanExporter as JsonExporter
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcExporter
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpExporter
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from rag_probe.path import EvidencePath
from rag_probe.path_json import to_json
from rag_probe.policy import CapturePolicy
from rag_probe.protocols import Selection
from rag_probe_collector.cli.score import score
from rag_probe_collector.receiver import Collector, Limits
from rag_probe_collector.sources import open_source
from rag_probe_demo.corpus import DATA
from tests.sample_apps import KEY, record

Spans = list[ReadableSpan]
PATIENCE = 100.0
PATIENT = Limits(commit_seconds=PATIENCE)


@pytest.fixture(scope="module")
def spans() -> Spans:
    return [*record("security"), *record("returns")]


@pytest.fixture(scope="module")
def with_content() -> Spans:
    policy = CapturePolicy(content=True, digest_key=KEY)
    return [*record("security", policy), *record("returns", policy)]


EXPORTERS: dict[str, Callable[[Collector], SpanExporter]] = {
    "grpc": lambda to: GrpcExporter(endpoint=str(to.grpc_address), insecure=True, timeout=PATIENCE),
    "http/protobuf": lambda to: HttpExporter(
        endpoint=_url(to), compression=Compression.NoCompression, timeout=PATIENCE
    ),
    "http/json gzip": lambda to: JsonExporter(endpoint=_url(to), compression=JsonCompression.GZIP, timeout=PATIENCE),
}


@pytest.fixture(scope="module")
def expected(spans: Spans, tmp_path_factory: pytest.TempPathFactory) -> list[object]:
    return _travelled([spans], "http/protobuf", tmp_path_factory.mktemp("expected"))


@pytest.mark.parametrize("transport", EXPORTERS)
def test_every_transport_gives_the_same_paths(
    spans: Spans, expected: list[object], transport: str, tmp_path: Path
) -> None:
    assert len(expected) == 26
    assert _travelled(_batches(spans, 64), transport, tmp_path) == expected


@pytest.mark.parametrize("seed", range(3))
def test_batches_may_come_in_any_order_and_again(
    spans: Spans, expected: list[object], seed: int, tmp_path: Path
) -> None:
    chance = random.Random(seed)
    shuffled = chance.sample(spans, len(spans))
    batches = [*_batches(shuffled, 17), *_batches(spans, 100)[:2]]
    again = [*batches, *chance.sample(batches, 5)]
    chance.shuffle(again)
    transports = [chance.choice([*EXPORTERS]) for _ in again]
    with Collector(tmp_path / "spool.db", limits=PATIENT) as collector:
        for transport, batch in zip(transports, again, strict=True):
            _send([batch], transport, collector)
    assert _paths(tmp_path / "spool.db") == expected


def test_content_changes_neither_ids_nor_orders_nor_decisions(
    expected: list[object], with_content: Spans, tmp_path: Path
) -> None:
    paths = _travelled(_batches(with_content, 64), "grpc", tmp_path)
    assert [_bare(path) for path in paths] == [_bare(path) for path in expected]
    assert all("text" in path["answer"] and "question" in path for path in paths)


def test_content_changes_no_verdict(spans: Spans, with_content: Spans, tmp_path: Path) -> None:
    assert _verdicts(with_content, tmp_path / "on") == _verdicts(spans, tmp_path / "off")


def _verdicts(spans: Spans, directory: Path) -> dict[str, object]:
    directory.mkdir()
    _travelled([spans], "grpc", directory)
    score(
        f"spool:{directory / 'spool.db'}",
        cases=DATA / "cases.yaml",
        corpus=DATA / "corpus.json",
        reviews=DATA / "reviews.yaml",
        out=directory,
    )
    rows = json.loads((directory / "report.json").read_bytes())["cases"]
    names = ("verdict", "violations", "broken_stage", "mechanism", "findings", "requirements", "metrics")
    return {row["id"]: [row[name] for name in names] for row in rows}


def _travelled(batches: list[Spans], transport: str, directory: Path) -> list[Any]:
    with Collector(directory / "spool.db", limits=PATIENT) as collector:
        _send(batches, transport, collector)
    return _paths(directory / "spool.db")


def _send(batches: list[Spans], transport: str, collector: Collector) -> None:
    exporter = EXPORTERS[transport](collector)
    for batch in batches:
        assert exporter.export(batch) is SpanExportResult.SUCCESS
    exporter.shutdown()


def _batches(spans: Spans, size: int) -> list[Spans]:
    return [spans[start : start + size] for start in range(0, len(spans), size)]


def _paths(spool: Path) -> list[Any]:
    found: Iterator[EvidencePath] = open_source(f"spool:{spool}").paths(Selection())
    return sorted((to_json(path) for path in found), key=lambda path: str(path["case_id"]))


def _url(collector: Collector) -> str:
    return f"http://{collector.http_address}/v1/traces"


_OF_THE_RUN = {"path_id", "trace_id", "trace_ids", "started_at", "case_run", "task_id", "checkpoint_ns", "latency_ms"}
_CONTENT = {"question", "query", "text", "not_captured"}


def _bare(value: Any) -> Any:
    """Without what differs from run to run, and without texts and the names of missing ones."""
    match value:
        case dict():
            kept = {name: _bare(each) for name, each in value.items() if name not in _OF_THE_RUN | _CONTENT}
            return {name: [*each] if name == "stage_latency_ms" else each for name, each in kept.items()}
        case list():
            return [_bare(each) for each in value]
        case _:
            return value
