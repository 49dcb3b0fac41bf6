"""Thresholds: dated, hashed, sensible (checklist 50 to 53, 58)."""

from __future__ import annotations

import json

import pytest
import yaml

from rag_probe_collector.register import load_thresholds
from tests.rag_probe_collector.register.files import LIMITS, refusal, write

LIMIT_FAULTS = {
    "above one": ({"minimum_recall": 1.01}, "minimum_recall: expected a number from 0 to 1"),
    "below zero": ({"minimum_recall": -0.1}, "minimum_recall: expected a number from 0 to 1"),
    "a text": ({"minimum_recall": "0.9"}, "minimum_recall: expected a number, got the text '0.9'"),
    "a boolean": ({"minimum_recall": True}, "minimum_recall: expected a number, got true"),
    "undated": ({"decided_at": ...}, "decided_at: expected when these limits were fixed"),
    "no date": ({"decided_at": "soon"}, "decided_at: expected 2030-01-31"),
    "misspelt": ({"minimal_recall": 0.5}, "expected the field 'minimum_recall', got 'minimal_recall'"),
    "a limit that nobody knows": ({"max_latency_ms": 500}, "got 'max_latency_ms'; a field that is ignored protects"),
    "a limit shortened": ({"recall": 0.5}, "expected minimum_recall, metrics, "),
    "a side that nobody knows": (
        {"metrics": {"AP": {"min": 0.5, "mxa": 0.9}}},
        "metrics.AP: expected min, max, got 'mxa'",
    ),
    "an input that is not strict": (
        {"accept_not_captured": ["contxt"]},
        "accept_not_captured[0]: expected retrieved, context, citations or answer.outcome, got the text 'contxt'",
    ),
    "an unknown blocker": ({"blockers": ["leaks"]}, "blockers[0]: expected scope_leak, prompt_outside_retrieval"),
    "an exception for a blocker": (
        {"exceptions": [{"violation": "scope_leak", "owner": "o", "reason": "r", "expires": "2030-01-01"}]},
        "scope_leak is a blocker and cannot be excused",
    ),
    "an exception for nothing": (
        {"exceptions": [{"owner": "o", "reason": "r", "expires": "2030-01-01"}]},
        "exceptions[0]: expected case_id or violation",
    ),
    "an exception of nobody": (
        {"exceptions": [{"case_id": "q", "owner": " ", "reason": "r", "expires": "2030-01-01"}]},
        "exceptions[0]: owner: expected text that is not blank",
    ),
    "an exception for ever": (
        {"exceptions": [{"case_id": "q", "owner": "o", "reason": "r", "expires": "never"}]},
        "exceptions[0].expires: expected",
    ),
    "an exception for a pending review": (
        {"exceptions": [{"violation": "review_pending", "owner": "o", "reason": "r", "expires": "2030-01-01"}]},
        "review_pending is never a pass",
    ),
}


@pytest.mark.parametrize(("change", "message"), LIMIT_FAULTS.values(), ids=LIMIT_FAULTS.keys())
def test_malformed_thresholds_are_one_line(tmp_path, change, message):
    """Checklist 50 to 53, 58."""
    limits = {name: value for name, value in {**LIMITS, **change}.items() if value is not ...}
    assert message in refusal(load_thresholds, write(tmp_path, "t.json", json.dumps(limits)))


def test_thresholds_carry_the_hash_of_their_file(tmp_path):
    """Checklist 50, as JSON and as YAML."""
    text = json.dumps({**LIMITS, "minimum_recall": 0.5, "metrics": {"nDCG@10": {"min": 0.7}}})
    limits, digest = load_thresholds(write(tmp_path, "t.json", text))
    same, other = load_thresholds(write(tmp_path, "t.yaml", yaml.safe_dump(json.loads(text))))
    assert limits == same
    assert limits.metrics["nDCG@10"].min == 0.7
    assert len(digest) == 64
    assert digest != other


@pytest.mark.parametrize("key", ["5", "~", "true", "2030-01-01", "1.5"])
def test_names_in_yaml_may_be_no_text(tmp_path, key):
    """One line, also when YAML reads a name as something else."""
    text = f"decided_at: '2030-01-31'\n{key}: 1\n"
    assert "Dict key must be str" in refusal(load_thresholds, write(tmp_path, "t.yaml", text))
