"""The release gate: rows in, one honest word out. Any doubt is not a pass."""

from rag_probe_collector.gate.conclude import FAILED, INCOMPLETE, PASSED, PENDING, UNUSABLE, conclude
from rag_probe_collector.gate.limits import metrics_for
from rag_probe_collector.gate.report_json import AboutJson, GatedCase, MissingJson, ReportJson
from rag_probe_collector.gate.reread import read_report, thresholds_of

__all__ = [
    "FAILED",
    "INCOMPLETE",
    "PASSED",
    "PENDING",
    "UNUSABLE",
    "AboutJson",
    "GatedCase",
    "MissingJson",
    "ReportJson",
    "conclude",
    "metrics_for",
    "read_report",
    "thresholds_of",
]
