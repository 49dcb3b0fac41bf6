"""`rag-probe paths` (contracts 2, 6)."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from rag_probe.path_json import from_json
from rag_probe.stages import (
    Answer,
    CaseTags,
    Chunks,
    Citations,
    Content,
    ContextAssembly,
    Filtering,
    Generation,
    Node,
    PermissionCheck,
    Rerank,
    Retrieval,
    Root,
    ToolCall,
    Verdicts,
)
from rag_probe_collector.cli.main import main
from tests.rag_probe_collector.spans import node, paths_of, request, stage, workflow

HOSTILE = "\x1b[31m[bold]red[/bold]\x07"
ANSWER = Answer(
    outcome="answered",
    content=Content(length=8, text=HOSTILE),
    citations=Citations(ids=("a", "zz", "b"), valid=(True, False, None)),
)
SPANS = [
    workflow(
        1, Root(question=Content(length=5, text=HOSTILE), tags=CaseTags(case_id=HOSTILE), answer=ANSWER), error=HOSTILE
    ),
    node(9, Node(name="draft", outcome="no_write"), 1, 1),
    stage(2, Retrieval(documents=Chunks(ids=("a", "b", HOSTILE))), 9, 1),
    stage(7, Retrieval(name="kb"), 9, 2, error="TimeoutError"),
    stage(3, Filtering(step="fresh", kept=("a",), dropped=("b",), reasons=("stale",)), 9, 3),
    stage(4, PermissionCheck(ids=("a", "b"), decisions=("allow", "deny"), reasons=(None, "foreign")), 9, 2.5),
    stage(8, Rerank(ids=("b", "a")), 9, 2.2),
    stage(5, Generation(context=ContextAssembly(ids=("a",), truncated=(True,), dropped=("b",))), 9, 5),
    stage(6, ToolCall(name=HOSTILE), 9, 6),
]


@pytest.fixture
def traces(tmp_path):
    path = tmp_path / "traces.pb"
    path.write_bytes(request(*SPANS, workflow(1, trace=2, at=50)).SerializeToString())
    return str(path)


def run(capsys, *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as end:
        main(["paths", *arguments])
    return end.value.code, *capsys.readouterr()


def test_json_is_one_object_a_line_and_nothing_else(capsys, traces):
    code, out, err = run(capsys, traces, "--json")
    assert (code, err) == (0, "2 questions\n")
    assert [from_json(json.loads(line)).path_id for line in out.splitlines()] == [
        path.path_id for path in paths_of(*SPANS, workflow(1, trace=2, at=50))
    ]
    assert all(json.loads(line)["schema"] == "rag-probe.path/1" for line in out.splitlines())


def test_gaps_are_no_failure(capsys, traces):
    code, out, _ = run(capsys, traces, "--json", "--limit", "1")
    assert code == 0
    assert "latency_ms" not in json.loads(out)["not_captured"]
    assert json.loads(out)["not_captured"]


def test_selection_reaches_the_source(capsys, traces):
    _, out, err = run(capsys, traces, "--json", "--trace", "0" * 31 + "2")
    assert (len(out.splitlines()), err) == (1, "1 question\n")


def test_a_person_sees_every_stage_and_where_passages_fell(capsys, traces):
    code, out, _ = run(capsys, traces, "--limit", "1")
    assert code == 0
    shown = " ".join(out.split())
    for words in (
        "kb failed: TimeoutError",
        "reranked 2 b a",
        "dropped b stale, fresh",
        "denied b foreign",
        "cut a",
        "draft (no_write)",
        "a ✓ zz ✗ b ?",
        "not captured:",
    ):
        assert words in shown
    names = [line.split()[0] for line in out.splitlines() if line.strip()]
    order = [
        "question",
        "retrieved",
        "reranked",
        "permitted",
        "filtered",
        "context",
        "answered",
        "nodes",
        "tool",
        "answer",
        "cited",
    ]
    assert [name for name in names if name in order] == order


def test_each_verdict_of_a_validation_is_shown(capsys, tmp_path):
    """Issue C: what was said of which draft."""
    verdicts = Verdicts(passed=(False, True), nodes=("check", HOSTILE), steps=(3, None), lengths=(12, None))
    path = tmp_path / "traces.pb"
    path.write_bytes(request(workflow(1, Root(verdicts=verdicts))).SerializeToString())
    _, out, _ = run(capsys, str(path))
    assert "check refused in step 3: 12 characters, held back" in out
    assert "passed: not captured" in out
    assert "\x1b[31m" not in out


@pytest.mark.parametrize("columns", ["30", "60"])
def test_what_is_wrapped_stays_indented(capsys, traces, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", columns)
    _, out, _ = run(capsys, traces, "--trace", "0" * 31 + "2")
    _, notes = out.split("  inferred:")
    assert len(notes.splitlines()) > 3
    assert [line for line in notes.splitlines()[1:-1] if line.strip() and not line.startswith("  ")] == []


def test_hostile_text_reaches_no_terminal(capsys, traces):
    for arguments in ((traces,), (traces, "--json")):
        _, out, _ = run(capsys, *arguments)
        assert "\x1b" not in out
        assert "\x07" not in out
    _, out, _ = run(capsys, traces)
    assert "[bold]red[/bold]" in out


def test_a_reader_that_stops_reading_is_no_error(traces, tmp_path):
    code = "from rag_probe_collector.cli import main; main()"
    (tmp_path / "many.pb").write_bytes(
        request(
            *(workflow(1, Root(question=Content(text="x" * 500)), trace=n) for n in range(1, 900))
        ).SerializeToString()
    )
    program = subprocess.Popen(
        [sys.executable, "-c", code, "paths", str(tmp_path / "many.pb"), "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    program.stdout.readline()
    program.stdout.close()
    error = program.stderr.read()
    program.stderr.close()
    assert (program.wait(timeout=300), error) == (141, "")
