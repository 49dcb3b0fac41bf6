"""What every report of the registry keeps, also the next one."""

from __future__ import annotations

import pytest

from rag_probe_collector.reports import REPORTS
from tests.rag_probe_collector.reports.sample import hostile, worked


@pytest.mark.parametrize("name", REPORTS)
def test_it_is_utf8_names_every_case_and_the_gate(name):
    report, _ = worked()
    text = REPORTS[name](report).decode("utf-8")
    assert all(row["id"] in text for row in report["cases"])
    assert "gate" in text
    assert "mis_cited" in text, "where it broke first"


@pytest.mark.parametrize("name", REPORTS)
def test_it_renders_whatever_a_trace_held_and_the_same_each_time(name):
    report, _ = hostile()
    assert REPORTS[name](report) == REPORTS[name](report)
    assert b"\x1b" not in REPORTS[name](report)


@pytest.mark.parametrize("name", REPORTS)
def test_texts_stay_out_unless_asked_for(name):
    report, _ = hostile("secret", with_content=False)
    row = report["cases"][0]
    assert row["content"] is None
