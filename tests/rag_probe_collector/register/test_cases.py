"""Labels: read strictly, refused in one line (checklist 20 to 26)."""

from __future__ import annotations

import pytest

from tests.rag_probe_collector.register.files import CASE, cases, refusal

WRONG = {
    "ids are one text": ({"allowed_ids": "a"}, "allowed_ids: expected a list, got the text 'a'"),
    "an id is a number": ({"gold_ids": ["a", 3]}, "gold_ids[1]: expected text, got the number 3"),
    "ids are an object": ({"allowed_ids": {"a": 1}}, "allowed_ids: expected a list, got an object"),
    "ids are null": ({"gold_ids": None}, "gold_ids: expected a list, got none"),
    "gold under another name": (
        {"gold_id": ["a"], "gold_ids": ...},
        "gold_ids: expected a list, got none; is 'gold_id' meant for it?",
    ),
    "allowed under another name": (
        {"allowed_id": ["a"], "allowed_ids": ...},
        "allowed_ids: expected a list, got none; is 'allowed_id' meant for it?",
    ),
    "an id twice": ({"allowed_ids": ["a", "a"]}, "allowed_ids: expected each id once, got 'a' twice"),
    "answerable is a number": ({"answerable": 1}, "answerable: expected true or false, got the number 1"),
    "answerable is a text": ({"answerable": "true"}, "answerable: expected true or false, got the text 'true'"),
    "gold that is not allowed": ({"gold_ids": ["z"]}, "gold_ids: expected only ids of allowed_ids, got 'z'"),
    "answerable without gold": ({"gold_ids": []}, "answerable: expected gold_ids for an answerable case"),
    "gold without answerable": ({"answerable": False}, "answerable: expected no gold_ids for a case that is not"),
    "id is blank": ({"id": " "}, "id: expected text that is not blank"),
    "id is a number": ({"id": 7}, "id: expected text, got the number 7"),
    "an unknown split": ({"split": "train"}, "split: expected dev, validation or test, got the text 'train'"),
    "a misspelt field": ({"segmnt": "x", "segment": ...}, "segment: expected a value, got none; add it; is 'segmnt'"),
    "half a span": (
        {"requirements": [{"id": "r", "groups": [[{"id": "a", "start": 1}]]}]},
        "expected both start and end of 'a', got one",
    ),
    "an empty span": (
        {"requirements": [{"id": "r", "groups": [[{"id": "a", "start": 3, "end": 3}]]}]},
        "expected 0 <= start < end for 'a'",
    ),
    "a boolean span": (
        {"requirements": [{"id": "r", "groups": [[{"id": "a", "start": True, "end": 3}]]}]},
        "requirements[0].groups[0][0].start: expected a whole number, got true",
    ),
    "an empty group": ({"requirements": [{"id": "r", "groups": [[]]}]}, "'r' has an empty group"),
    "a requirement without a group": (
        {"requirements": [{"id": "r"}]},
        "answerable: requirement 'r' has no group",
    ),
    "a requirement twice": (
        {"requirements": [{"id": "r", "supplied_by_question": True}] * 2},
        "requirements: expected each id once, got 'r' twice",
    ),
    "a route that says nothing": ({"expected_route": "a (b"}, "expected_route: expected a list of nodes or a pattern"),
    "both kinds of allowed": ({"allowed": {"tenant": "x"}}, "expected one of allowed_ids and allowed, got both"),
    "a selector without a manifest": (
        {"allowed": {"tenant": "x"}, "allowed_ids": ...},
        "allowed: expected a corpus manifest to select from; give --corpus FILE",
    ),
    "no allowed at all": ({"allowed_ids": ...}, "allowed_ids: expected a list, got none"),
}


@pytest.mark.parametrize(("change", "message"), WRONG.values(), ids=WRONG.keys())
def test_a_malformed_case_is_one_line(tmp_path, change, message):
    """Checklist 20 to 26: file, line, case, field, what was expected."""
    case = {name: value for name, value in {**CASE, **change}.items() if value is not ...}
    found = refusal(cases, tmp_path, {**CASE, "id": "fine"}, case)
    assert message in found
    assert "cases.jsonl:2 case" in found


def test_a_case_twice_is_an_error(tmp_path):
    """Checklist 51 to 53."""
    assert "expected each id once, got 'q1' twice" in refusal(cases, tmp_path, CASE, CASE)


def test_an_unknown_field_is_kept_out_and_a_misspelt_one_is_told(tmp_path):
    """More fields may be added; one that was meant otherwise should not vanish in silence."""
    register = cases(tmp_path, {**CASE, "difficulty_of_mine": 3, "expected_outcom": "answered"})
    assert ["expected_outcome" in warning for warning in register.warnings] == [True]


def test_requirements_loosen_the_strict_label_rules(tmp_path):
    """Contracts 5: with requirements, answerable means that each has a group or is supplied by the question."""
    groups = [[{"id": "a"}], [{"id": "b"}]]
    case = {**CASE, "requirements": [{"id": "r", "groups": groups}, {"id": "s", "supplied_by_question": True}]}
    del case["gold_ids"]
    assert cases(tmp_path, case).cases[0].requirements[0].groups[1][0].id == "b"
    unanswerable = {**case, "answerable": False, "requirements": [{"id": "r"}]}
    assert not cases(tmp_path, unanswerable).cases[0].answerable
