"""Reviews: valid, bound, none twice (checklist 35)."""

from __future__ import annotations

import json

import pytest

from rag_probe_collector.register import load_reviews
from tests.rag_probe_collector.register.files import REVIEW, refusal, write

CLAIM = {"claim": "x", "supported_by_supplied_context": True, "supported_by_attached_citation": True}
REVIEWS = {
    "unbound": ({"path_id": ...}, "answer_digest: expected path_id or answer_digest"),
    "neither counts nor claims": ({"total_claims": ...}, "expected total_claims and supported_claims, or claims"),
    "no claims": ({"claims": []}, "claims: expected at least one claim"),
    "counts that disagree": ({"claims": [CLAIM]}, "supported_claims: expected 1 as its claims say"),
    "a label that is a text": (
        {"claims": [{**CLAIM, "supported_by_supplied_context": "yes"}]},
        "claims[0].supported_by_supplied_context: expected true or false, got the text 'yes'",
    ),
    "a binding misspelt": (
        {"evidence_versoin": "0" * 64},
        "expected the field 'evidence_version', got 'evidence_versoin'; no review counts for more",
    ),
    "an experiment misspelt": ({"experimnt": "e"}, "expected the field 'experiment', got 'experimnt'"),
    "a blank reviewer": ({"reviewer": ""}, "reviewer: expected a name that is not blank"),
}


@pytest.mark.parametrize(("change", "message"), REVIEWS.values(), ids=REVIEWS.keys())
def test_a_malformed_review_is_one_line(tmp_path, change, message):
    """Checklist 35, contracts 5."""
    review = {name: value for name, value in {**REVIEW, "supported_claims": 2, **change}.items() if value is not ...}
    found = refusal(load_reviews, write(tmp_path, "r.jsonl", json.dumps(review)))
    assert message in found
    assert "r.jsonl:1 review of case 'q1'" in found


def test_a_review_twice_by_the_same_reviewer_is_an_error(tmp_path):
    text = "\n".join([json.dumps(REVIEW)] * 2)
    assert "one review per answer and reviewer" in refusal(load_reviews, write(tmp_path, "r.jsonl", text))
    other = json.dumps({**REVIEW, "reviewer": "noor"})
    assert len(load_reviews(write(tmp_path, "r.jsonl", f"{json.dumps(REVIEW)}\n{other}"))) == 2
