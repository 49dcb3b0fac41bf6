"""A fault counts as found when its stage is named; a clean case must be without any finding."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rich.console import Console

from rag_probe_collector.cli.planted import Verdict, compare, table

PLANTED = {
    "leak": {"stage": "access", "mechanism": "foreign_retrieved", "violations": ["scope_leak"], "why": "A [link]."},
    "vague": {"stage": "generation", "violations": ["unsupported_claim"], "why": "The model adds to it."},
    "unread": {"stage": "none", "violations": ["review_pending"], "why": "Nobody read it."},
}


def _row(case_id: str, stage: str, *violations: str) -> dict[str, Any]:
    return {"id": case_id, "broken_stage": stage, "mechanism": None, "violations": violations, "recall": 1.0}


def _compare(tmp_path: Path, *rows: dict[str, Any], real_model: bool = False) -> dict[str, Verdict]:
    planted, report = tmp_path / "planted.json", tmp_path / "report.json"
    planted.write_text(json.dumps(PLANTED))
    report.write_text(json.dumps({"schema": "rag-probe.report/1", "cases": rows}))
    return {verdict.case_id: verdict for verdict in compare(planted, report, real_model=real_model)}


def test_all_as_planted(tmp_path: Path) -> None:
    found = _compare(
        tmp_path,
        _row("clean", "none"),
        _row("leak", "access", "scope_leak"),
        _row("vague", "generation"),
        _row("unread", "none", "review_pending"),
    )
    assert [*found] == ["leak", "vague", "unread", "clean"]
    assert all(verdict.right for verdict in found.values())
    assert [name for name, verdict in found.items() if verdict.clean] == ["clean"]


def test_another_stage_a_missing_case_and_a_finding_in_a_clean_case_are_wrong(tmp_path: Path) -> None:
    found = _compare(tmp_path, _row("clean", "none", "review_pending"), _row("leak", "filter"), _row("unread", "none"))
    assert {name: verdict.right for name, verdict in found.items()} == {
        "leak": False,
        "vague": False,
        "unread": False,
        "clean": False,
    }


def test_with_a_real_model_only_the_stages_before_it_are_judged(tmp_path: Path) -> None:
    found = _compare(tmp_path, _row("leak", "access"), _row("vague", "none"), _row("clean", "none"), real_model=True)
    assert {name: verdict.right for name, verdict in found.items()} == {
        "leak": True,
        "vague": None,
        "unread": None,
        "clean": None,
    }


def test_the_table_says_what_was_found_where_and_why_when_there_is_room(tmp_path: Path) -> None:
    found = list(_compare(tmp_path, _row("clean", "none"), _row("leak", "access"), _row("vague", "none")).values())

    def drawn(width: int) -> str:
        console = Console(width=width)
        with console.capture() as capture:
            console.print(table(found, console.width))
        return capture.get()

    assert "2 of 4 cases as planted" in drawn(80)
    assert "not in the report" in drawn(80)
    assert "the other 1" in drawn(80)
    assert "The model adds to it." not in drawn(80)
    assert "The model adds to it." in drawn(160)
    assert "A [link]." in drawn(160)
