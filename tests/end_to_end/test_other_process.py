"""A case is started here and answered by an app behind HTTP in another process (must show 5)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from urllib.request import Request, urlopen

from opentelemetry.propagate import inject

from rag_probe import case
from rag_probe.protocols import Selection
from rag_probe_collector.receiver import Collector
from rag_probe_collector.sources import open_source
from tests.rag_probe.programs import PATIENT

ROOT = Path(__file__).parents[2]
QUESTION = "How long does VPN access of contractors last?"


def test_case_and_experiment_reach_the_path_of_the_other_process(tmp_path: Path) -> None:
    spool = tmp_path / "spool.db"
    with Collector(spool) as collector, _server(str(collector.http_address)) as server:
        assert server.stdout is not None
        port = int(server.stdout.readline())
        with case(
            "vpn of contractors, 100%",
            experiment="nightly/12",
            repetition=2,
            configuration="große Änderung",
            dataset_version="demo-1",
            corpus_version="2026-06-15",
            identity={"subject": "somebody else"},
        ) as tags:
            headers: dict[str, str] = {}
            inject(headers)
            with urlopen(Request(f"http://127.0.0.1:{port}", QUESTION.encode(), headers), timeout=300) as answer:
                assert b"[nw-vpn-r1]" in answer.read()
        assert server.wait(300) == 0
    (path,) = open_source(f"spool:{spool}").paths(Selection())
    assert path.tags == tags
    assert path.service == "answering-server"
    assert path.identity is None, "who asks is the app's to know, and never travels"
    assert path.answer is not None
    assert path.answer.outcome == "answered"


def _server(collector: str) -> subprocess.Popen[str]:
    foreign = ("OTEL_", "RAG_PROBE_", "LANGSMITH_", "LANGCHAIN_")
    ours = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    ours |= {"OTEL_EXPORTER_OTLP_ENDPOINT": f"http://{collector}", "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf"}
    command = [sys.executable, "-m", "tests.end_to_end.answering_server"]
    return subprocess.Popen(command, cwd=ROOT, env=ours | PATIENT, stdout=subprocess.PIPE, text=True)
