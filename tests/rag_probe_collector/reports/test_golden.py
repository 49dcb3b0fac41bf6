"""`rag-probe.report/1`: written as it was released, and read by all that comes later (contracts, preamble)."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

from rag_probe_collector.gate import conclude, read_report, thresholds_of
from rag_probe_collector.reports import dump
from tests.rag_probe_collector.reports.sample import worked

GOLDEN = Path(__file__).parent / "golden" / "report-1.json"


def test_the_report_is_written_as_released():
    """Additions are free, renames are not: an intended addition rewrites the file."""
    report, _ = worked()
    assert json.loads(dump(report)) == json.loads(GOLDEN.read_bytes())


def test_a_released_report_can_be_gated_again():
    old = read_report(GOLDEN)
    limits, digest = thresholds_of(old)
    assert conclude(old["cases"], old["missing"], old["about"], limits, digest, date(2030, 1, 31)) == old
