"""Issue B: `opentelemetry-instrument python app.py`, on an app with no line of ours, leaves the whole evidence path."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from rag_probe.path import EvidencePath
from rag_probe.protocols import Selection
from rag_probe_collector.receiver import Collector
from rag_probe_collector.sources import open_source
from tests.rag_probe.otlp_server import grpc_receiver, http_receiver
from tests.rag_probe.programs import PATIENT
from tests.rag_probe_langchain.apps import ANSWER

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.slow
NODES = ["retrieve", "filter", "draft", "validate", "draft", "validate"]
_OURS = {"rag_probe_langchain", "rag_probe_langgraph"}
_OTHERS = {each.name for each in entry_points(group="opentelemetry_instrumentor")} - _OURS
_FOREIGN = ("OTEL_", "RAG_PROBE_", "LANGSMITH_", "LANGCHAIN_")


def run(*command: str, **variables: str) -> list[str]:
    """The lines that the app prints; it must end well and say nothing else."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(_FOREIGN)}
    environment |= {
        "OTEL_SERVICE_NAME": "plain",
        "OTEL_METRICS_EXPORTER": "none",
        "OTEL_LOGS_EXPORTER": "none",
        "OTEL_PYTHON_DISABLED_INSTRUMENTATIONS": ",".join(_OTHERS),
        **PATIENT,
        **variables,
    }
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def instrument(**variables: str) -> list[str]:
    """The app under OpenTelemetry's own command."""
    command = str(Path(sys.executable).with_name("opentelemetry-instrument"))
    return run(command, sys.executable, "-m", "tests.end_to_end.plain_app", **variables)


def test_an_app_with_no_line_of_ours_leaves_its_evidence_paths(tmp_path: Path) -> None:
    spool = tmp_path / "spool.db"
    with Collector(spool) as collector:
        printed = instrument(
            OTEL_EXPORTER_OTLP_ENDPOINT=f"http://{collector.http_address}", OTEL_EXPORTER_OTLP_PROTOCOL="http/protobuf"
        )
    assert printed == [ANSWER, ANSWER, "True"]
    found = list(open_source(f"spool:{spool}").paths(Selection()))
    chain, graph = (_from(found, source) for source in ("langchain", "langgraph"))
    for path in (chain, graph):
        assert path.answer is not None
        assert path.answer.outcome == "answered"
        assert path.retrievals is not None
        assert path.context is not None
    assert [node.stage.name for node in graph.nodes or ()] == NODES


def _from(paths: list[EvidencePath], source: str) -> EvidencePath:
    (path,) = [path for path in paths if path.source == source and path.retrievals]
    return path


def test_the_database_is_asked_inside_our_retrieval() -> None:
    with grpc_receiver() as received:
        instrument(OTEL_EXPORTER_OTLP_ENDPOINT=received.endpoint, OTEL_EXPORTER_OTLP_PROTOCOL="grpc")
    spans = [
        span
        for request in received.requests
        for resource in request.resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]
    by_id = {span.span_id: span for span in spans}
    assert len(by_id) == len(spans)
    (query,) = [span for span in spans if span.name == "SELECT"]
    assert by_id[query.parent_span_id].name == "retrieval"
    assert sum(span.name.startswith("invoke_node") for span in spans) == 6


@pytest.mark.parametrize(
    "variables",
    [
        {"OTEL_SDK_DISABLED": "true"},
        {"OTEL_TRACES_SAMPLER": "traceidratio", "OTEL_TRACES_SAMPLER_ARG": "0.0"},
        {"OTEL_PYTHON_DISABLED_INSTRUMENTATIONS": ",".join(sorted(_OTHERS | _OURS))},
    ],
    ids=lambda variables: ",".join(map("=".join, variables.items()))[:60],
)
def test_the_app_works_where_nothing_is_recorded(variables: dict[str, str]) -> None:
    with http_receiver() as received:
        endpoint = {"OTEL_EXPORTER_OTLP_ENDPOINT": received.endpoint, "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf"}
        assert instrument(**endpoint, **variables)[:2] == [ANSWER, ANSWER]
    assert [name for name, _ in received.spans() if name != "SELECT"] == []


@pytest.mark.parametrize("alone", sorted(_OURS))
def test_each_instrumentor_works_alone(alone: str) -> None:
    with http_receiver() as received:
        instrument(
            OTEL_EXPORTER_OTLP_ENDPOINT=received.endpoint,
            OTEL_EXPORTER_OTLP_PROTOCOL="http/protobuf",
            OTEL_PYTHON_DISABLED_INSTRUMENTATIONS=",".join(_OTHERS | (_OURS - {alone})),
        )
    names = received.names()
    assert sum(name.startswith("invoke_node") for name in names) == 6
    assert names.count("invoke_workflow returns desk") == (1 if alone == "rag_probe_langchain" else 0)


BY_HAND = """
import sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name.startswith("opentelemetry.sdk"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Finder())
from rag_probe_langchain import RagProbeInstrumentor
from rag_probe_langgraph import RagProbeGraphInstrumentor
RagProbeInstrumentor().instrument()
RagProbeGraphInstrumentor().instrument()
from tests.end_to_end.plain_app import main
main()
"""


def test_no_sdk_need_be_installed() -> None:
    assert run(sys.executable, "-c", BY_HAND) == [ANSWER, ANSWER, "False"]
