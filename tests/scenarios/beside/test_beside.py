"""The main shapes with each of the three other instrumentations beside (issue B; must-handle 11; peers' faults)."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from base64 import b64decode
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from rag_probe import attributes as a
from rag_probe.path_json import to_json
from rag_probe.protocols import Selection
from tests.rag_probe_collector.spans import source

ROOT = Path(__file__).parents[3]
PEERS = ("official", "openinference", "openllmetry")
WAYS = ("beside", "beside, instrumented", "beside, instrumented before them", "full", "full, instrumented")
SHOWN = ("chain ainvoke", "chain of a nameless model", "graph invoke", "graph paused and resumed", "agent invoke")
TIMES = {"path_id", "trace_id", "trace_ids", "started_at", "latency_ms", "stage_latency_ms"}
RANDOM = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("beside")]


@cache
def recorded(peer: str) -> dict[str, dict[str, Any]]:
    """By way of recording, by shape."""
    program = [sys.executable, "-m", "tests.scenarios.beside.program", peer]
    ran = subprocess.run(program, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr[-4_000:]
    return json.loads(ran.stdout)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("peer", PEERS)
def test_the_path_is_ours(peer, way):
    """Usage and cost once, nothing retrieved twice, and neither their order nor their faults matter."""
    alone = recorded("none")["full"]
    found = {shape: paths(ran) for shape, ran in recorded(peer)[way].items()}
    assert found == {shape: paths(alone[shape]) for shape in found}


def paths(ran: dict[str, Any]) -> list[Any]:
    request = ExportTraceServiceRequest.FromString(b64decode(ran["otlp"]))
    return sorted((untimed(to_json(path)) for path in source(request).paths(Selection())), key=json.dumps)


def untimed(path: Any) -> Any:
    return json.loads(numbered(json.dumps(without_times(path))))


def without_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_times(each) for key, each in value.items() if key not in TIMES}
    return [without_times(each) for each in value] if isinstance(value, list) else value


def numbered(text: str) -> str:
    """LangGraph's task and checkpoint ids, in order of appearance."""
    seen: dict[str, str] = {}
    return RANDOM.sub(lambda found: seen.setdefault(found[0], f"uuid-{len(seen) + 1}"), text)


@pytest.mark.parametrize("peer", PEERS)
def test_each_of_ours_hangs_under_the_span_of_theirs(peer, snapshot):
    ran = recorded(peer)["beside"]
    assert {shape: tree(ran[shape]["spans"]) for shape in SHOWN} == snapshot


def tree(spans: list[dict[str, Any]]) -> list[str]:
    """Names, and where ours belong among ours; what they say is compared as a path. Siblings in order of their text."""
    names = {f"{span['id']:016x}": span["name"] for span in spans}
    known = {span["id"] for span in spans}

    def shown(span: dict[str, Any], depth: int) -> list[str]:
        of = names.get(span["attributes"].get(a.PARENT))
        line = "  " * depth + span["name"] + (f" ({span['peer']})" if span["peer"] else f" of {of}" if of else "")
        inner = sorted(shown(each, depth + 1) for each in spans if each["parent"] == span["id"])
        return [line, *[each for lines in inner for each in lines]]

    roots = sorted(shown(span, 0) for span in spans if span["parent"] not in known)
    return [line for lines in roots for line in lines]


@pytest.mark.parametrize("peer", PEERS)
@pytest.mark.parametrize("way", WAYS[:3])
def test_whatever_the_shape_ours_are_evidence_inside_their_traces(peer, way):
    for shape, ran in recorded(peer)[way].items():
        spans = {span["id"]: span for span in ran["spans"]}
        theirs = {span["trace"] for span in spans.values() if span["peer"] is not None}
        for span in [span for span in spans.values() if span["peer"] is None]:
            above = spans[span["parent"]]
            assert span["trace"] in theirs, shape
            assert above["trace"] == span["trace"]
            assert above["start"] <= span["start"], (shape, span["name"])
            assert span["name"].startswith("rag.")
            assert (span["kind"], span["status"]) == ("INTERNAL", "UNSET")
            assert {name for name in span["attributes"] if name.startswith("gen_ai.")} <= {a.CONVERSATION_ID}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("peer", PEERS)
def test_theirs_are_as_without_us(peer, way):
    undisturbed = recorded(peer)["theirs alone"]
    for shape, ran in undisturbed.items():
        assert outline(recorded(peer)[way][shape]) == outline(ran), shape


def outline(ran: dict[str, Any]) -> list[tuple[str, str | None]]:
    theirs = {span["id"]: span["name"] for span in ran["spans"] if span["peer"] is not None}
    return sorted((span["name"], theirs.get(span["parent"], "")) for span in ran["spans"] if span["peer"] is not None)


@pytest.mark.parametrize("way", ["full", "full, instrumented"])
@pytest.mark.parametrize("peer", PEERS)
def test_in_full_a_question_is_one_trace(peer, way):
    for shape, ran in recorded(peer)[way].items():
        ours = {span["trace"] for span in ran["spans"] if span["peer"] is None}
        assert ours == {span["trace"] for span in ran["spans"] if span["peer"] is not None}, shape
