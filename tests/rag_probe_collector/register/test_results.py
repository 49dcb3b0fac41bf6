"""Captured results: as strict as the labels, and paths with their reviews."""

from __future__ import annotations

import json

import pytest

from rag_probe.protocols import Selection, SourceOptions
from rag_probe_collector.sources.results import open_results
from tests.rag_probe_collector.register.files import RESULT, refusal, write

RESULTS = {
    "an id twice": ({"retrieved_ids": ["a", "a"]}, "retrieved_ids: expected each id once, got 'a' twice"),
    "a citation twice": ({"citations": ["a", "a"]}, "citations: expected each id once"),
    "ids are one text": ({"prompt_ids": "a"}, "prompt_ids: expected a list, got the text 'a'"),
    "the answer is null": ({"answer": None}, "answer: expected text, got null"),
    "the answer is missing": ({"answer": ...}, "answer: expected a value, got none"),
    "a boolean count": (
        {"review": {"total_claims": True, "supported_claims": 1, "reviewer": "m"}},
        "review.total_claims: expected a whole number, got true",
    ),
    "a fractional count": (
        {"review": {"total_claims": 2.0, "supported_claims": 1, "reviewer": "m"}},
        "review.total_claims: expected a whole number, got the number 2.0",
    ),
    "more supported than there are": (
        {"review": {"total_claims": 1, "supported_claims": 2, "reviewer": "m"}},
        "review.supported_claims: expected a number from 0 to 1, got 2",
    ),
    "a negative count": (
        {"review": {"total_claims": 1, "supported_claims": -1, "reviewer": "m"}},
        "review.supported_claims: expected a number from 0 to 1, got -1",
    ),
    "no claims": (
        {"review": {"total_claims": 0, "supported_claims": 0, "reviewer": "m"}},
        "review.total_claims: expected at least 1, got 0",
    ),
    "a blank reviewer": (
        {"review": {"total_claims": 1, "supported_claims": 1, "reviewer": " "}},
        "review.reviewer: expected a name that is not blank",
    ),
    "half a review": ({"review": {"total_claims": 1, "reviewer": "m"}}, "review.supported_claims: expected a value"),
    "an outcome without words": ({"answer": " ", "outcome": "answered"}, "outcome: expected abstained for a blank"),
    "an unknown outcome": ({"outcome": "maybe"}, "outcome: expected answered, partial, clarification"),
}


@pytest.mark.parametrize(("change", "message"), RESULTS.values(), ids=RESULTS.keys())
def test_a_malformed_result_is_one_line(tmp_path, change, message):
    """Checklist 20 to 22, 24, 35."""
    result = {name: value for name, value in {**RESULT, **change}.items() if value is not ...}
    file = write(tmp_path, "results.jsonl", json.dumps(result))
    found = refusal(open_results, str(file), SourceOptions())
    assert message in found
    assert "results.jsonl:1 result 'q1'" in found


def test_no_results_at_all_are_an_error(tmp_path):
    assert "at least one result" in refusal(open_results, str(write(tmp_path, "r.json", "[]")), SourceOptions())


def test_a_result_becomes_a_path_with_its_review(tmp_path):
    """Checklist 60: the review beside an answer is bound to its path."""
    review = {"total_claims": 3, "supported_claims": 2, "reviewer": "mira"}
    file = write(tmp_path, "r.jsonl", json.dumps({**RESULT, "review": review, "experiment": "e", "repetition": 2}))
    source = open_results(str(file), SourceOptions())
    (path,) = source.paths(Selection())
    (found,) = source.reviews()
    assert (path.path_id, path.source, path.tags.experiment) == ("result:e:q1:2", "result", "e")
    assert (found.path_id, found.counts) == (path.path_id, (2, 3))
    assert path.answer.outcome == "answered"
    assert not path.inferred
    assert [*source.paths(Selection(attributes={"rag.case.id": "other"}))] == []
    assert [*source.paths(Selection(limit=0))] == []


@pytest.mark.parametrize(
    ("answer", "told", "outcome"),
    [
        (" \n", None, "abstained"),
        ("no idea", "abstained", "abstained"),
        ("x", None, "answered"),
        ("x", "partial", "partial"),
    ],
)
def test_an_answer_is_a_character_that_is_not_blank(tmp_path, answer, told, outcome):
    """Checklist 27 and 40: the text that stands for silence is kept apart by `outcome`."""
    file = write(tmp_path, "r.jsonl", json.dumps({**RESULT, "answer": answer, "outcome": told}))
    (path,) = open_results(str(file), SourceOptions()).paths(Selection())
    assert path.answer.outcome == outcome


def test_a_field_that_is_nearly_ours_is_told_once(tmp_path, caplog):
    """One that is somebody's own is not."""
    lines = [json.dumps({**RESULT, "id": name, "outcom": "abstained", "team": "x"}) for name in "abc"]
    open_results(str(write(tmp_path, "r.jsonl", "\n".join(lines))), SourceOptions())
    (told,) = caplog.messages
    assert "r.jsonl:1 result 'a': field 'outcom' is ignored; is 'outcome' meant?" in told
