"""`rag-probe gate` on a report that was cut, edited or damaged: exit 2, never a pass by omission (checklist 51)."""

from __future__ import annotations

import json

import pytest

from rag_probe_collector.cli.main import main
from rag_probe_collector.cli.program import run
from tests.rag_probe_collector.gate.suite import SILENT, good, write


@pytest.fixture
def passed(tmp_path, capsys):
    """A report that passes, as text."""
    cases, results = zip(good(), (SILENT["case"], SILENT["result"]), strict=True)
    assert run([*write(tmp_path, cases, results), f"--out={tmp_path / 'out'}"]) == 0
    capsys.readouterr()
    return (tmp_path / "out/report.json").read_text(encoding="utf-8")


def again(tmp_path, capsys, text):
    (tmp_path / "report.json").write_text(text, encoding="utf-8")
    with pytest.raises(SystemExit) as ended:
        main(["gate", str(tmp_path / "report.json")])
    return ended.value.code, capsys.readouterr()


def test_the_folder_of_a_report_is_one(tmp_path, capsys, passed):
    assert run(["gate", str(tmp_path / "out")]) == 0
    with pytest.raises(SystemExit):
        main(["gate", str(tmp_path)])
    assert "report.json: cannot be read: No such file" in capsys.readouterr().err


def edited(text, change):
    report = json.loads(text)
    change(report)
    return json.dumps(report)


EDITS = {
    "no rows": (lambda report: report.update(cases=[], missing=[], case_count=0), "expected at least one case"),
    "a row less": (lambda report: report["cases"].pop(), "case_count: expected 1 as its cases say, got 2"),
    "a row twice": (lambda report: report["cases"].append(report["cases"][0]), "case and repetition once"),
    "a violation unheard of": (lambda report: report["cases"][0]["violations"].append("leek"), "got 'leek'"),
    "a recall above one": (lambda report: report["cases"][0].update(gated_recall=5), "gated_recall: expected a number"),
    "a recall that is none": (lambda report: report["cases"][0].update(gated_recall=float("nan")), "expected JSON"),
    "a recall without end": (lambda report: report["cases"][0].update(gated_recall=float("inf")), "expected JSON"),
    "a minimum below zero": (lambda report: report["thresholds"].update(minimum_recall=-5), "minimum_recall: expected"),
    "an exception without end": (
        lambda report: report["thresholds"]["exceptions"].append(
            {"owner": "o", "reason": "r", "expires": "x", "case_id": "good", "violation": None, "state": "used"}
        ),
        "thresholds of the report: exceptions.0.expires",
    ),
    "a gap that is none": (
        lambda report: report["thresholds"].update(accept_not_captured=["x"]),
        "accept_not_captured",
    ),
    "another version": (lambda report: report.update(schema="rag-probe.report/2"), "schema: expected"),
    "another file": (lambda report: report.clear(), "expected a report as `score --out` writes it"),
}


@pytest.mark.parametrize(("change", "says"), EDITS.values(), ids=EDITS.keys())
def test_an_edited_report_is_refused(tmp_path, capsys, passed, change, says):
    code, printed = again(tmp_path, capsys, edited(passed, change))
    assert (code, printed.out, printed.err.count("\n")) == (2, "", 1)
    assert says in printed.err


def test_a_report_cut_anywhere_is_refused(tmp_path, capsys, passed):
    """A job that was killed while it wrote."""
    for length in range(0, len(passed) - 2, max(1, len(passed) // 40)):
        code, printed = again(tmp_path, capsys, passed[:length])
        assert (code, printed.err.count("\n")) == (2, 1)


def test_a_whole_one_is_gated_as_before(tmp_path, capsys, passed):
    assert again(tmp_path, capsys, passed)[0] == 0
