"""A file that breaks off may have lost what fails a case: nothing in it passes (checklist 51, contracts 6)."""

from __future__ import annotations

import gzip
import json

import pytest

from rag_probe.stages import Answer, CaseTags, Chunks, Content, Retrieval, Root
from rag_probe_collector.cli.program import run
from tests.rag_probe_collector.spans import request, stage, workflow

CASE = {
    "id": "a",
    "segment": "s",
    "tenant": "t",
    "question": "q",
    "allowed_ids": ["x"],
    "gold_ids": [],
    "answerable": False,
}
SILENT = Root(tags=CaseTags(case_id="a", experiment="e"), answer=Answer(outcome="abstained", content=Content(length=0)))
LEAKING = stage(2, Retrieval(documents=Chunks(ids=("foreign",))), parent=1)


def delimited(*messages):
    parts = [message.SerializeToString() for message in messages]
    return b"".join(len(part).to_bytes(4, "big") + part for part in parts)


def scored(tmp_path, capsys, data):
    (tmp_path / "cases.json").write_text(json.dumps([CASE]), encoding="utf-8")
    (tmp_path / "traces.pb").write_bytes(data)
    code = run(["score", f"otlp:{tmp_path / 'traces.pb'}", f"--cases={tmp_path / 'cases.json'}", "--json"])
    return code, json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("cut", [1, 5, 20, 60])
def test_a_leak_that_was_cut_off_is_no_pass(tmp_path, capsys, cut):
    data = delimited(request(workflow(1, SILENT)), request(LEAKING))
    code, report = scored(tmp_path, capsys, data)
    assert (code, report["cases"][0]["violations"]) == (1, ["scope_leak"])
    code, report = scored(tmp_path, capsys, data[:-cut])
    assert (code, report["gate"]) == (3, "FAIL")
    assert "last message is incomplete" in report["reasons"][0]


def test_compressed_data_that_breaks_off_is_no_pass(tmp_path, capsys):
    silent, leak = delimited(request(workflow(1, SILENT))), delimited(request(LEAKING))
    whole = gzip.compress(silent + leak * 20_000, compresslevel=0)
    assert scored(tmp_path, capsys, whole)[0] == 1
    code, report = scored(tmp_path, capsys, whole[:-20_000])
    assert (code, report["gate"]) == (3, "FAIL")
    assert "incomplete" in report["reasons"][0] or "breaks off" in report["reasons"][0]


def test_a_leak_that_only_one_copy_of_a_span_shows_is_no_pass(tmp_path, capsys):
    clean = stage(2, Retrieval(documents=Chunks(ids=("x",))), parent=1, took=9)
    code, report = scored(tmp_path, capsys, delimited(request(workflow(1, SILENT), LEAKING, clean)))
    assert (code, report["cases"][0]["not_captured"]) == (3, ["retrieved"])


def test_gating_again_forgets_nothing(tmp_path, capsys):
    data = delimited(request(workflow(1, SILENT)), request(LEAKING))
    _, report = scored(tmp_path, capsys, data[:-5])
    (tmp_path / "report.json").write_text(json.dumps(report), encoding="utf-8")
    assert run(["gate", str(tmp_path / "report.json")]) == 3
