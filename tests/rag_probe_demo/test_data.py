"""The shipped corpus, cases, script, reviews and planted faults agree with each other."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

import pytest

from rag_probe_collector.register.case import Case
from rag_probe_collector.register.cases import load_cases
from rag_probe_collector.register.corpus import load_corpus
from rag_probe_collector.register.reviews import load_reviews
from rag_probe_demo.corpus import DATA, TODAY, load_passages
from rag_probe_demo.questions import load_questions
from rag_probe_demo.scripted import load_script

CORPUS = load_corpus(DATA / "corpus.json")
REGISTER = load_cases(DATA / "cases.yaml", CORPUS)
CASES = {case.id: case for case in REGISTER.cases}
PLANTED = cast("Mapping[str, Mapping[str, Any]]", json.loads((DATA / "planted.json").read_text(encoding="utf-8")))

KINDS = {
    "paraphrase",
    "conditional",
    "stale procedure",
    "revoked permission",
    "foreign-tenant request",
    "unanswerable",
    "conflicting sources",
    "adversarial retrieved text",
    "unsafe request",
}
VIOLATIONS = {
    "scope_leak",
    "prompt_outside_retrieval",
    "invalid_citation",
    "answer_evidence_mismatch",
    "should_abstain",
    "false_abstention",
    "review_pending",
    "unsupported_claim",
}


def test_every_case_kind_is_asked() -> None:
    """checklist 8."""
    assert {case.slices["kind"] for case in CASES.values()} >= KINDS
    assert {case.why_unanswerable for case in CASES.values()} >= {"absent", "expired", "inaccessible"}  # checklist 9


def test_versions_are_named_and_agree() -> None:
    """checklist 4."""
    assert REGISTER.dataset_version is not None
    assert REGISTER.corpus_version == CORPUS.version == TODAY.isoformat()


def test_the_labels_name_only_passages_that_exist() -> None:
    assert not REGISTER.warnings


def test_every_violation_and_every_stage_of_the_issue_is_planted() -> None:
    assert {name for fault in PLANTED.values() for name in fault["violations"]} == VIOLATIONS
    assert {(fault["stage"], fault["mechanism"]) for fault in PLANTED.values()} == {
        ("none", None),
        ("access", "foreign_retrieved"),
        ("retrieval", "not_retrieved"),
        ("retrieval", "ranked_below_k"),
        ("retrieval", "wrong_revision"),
        ("filter", "filtered"),
        ("permission", "denied"),
        ("context", "dropped_by_budget"),
        ("context", "span_truncated"),
        ("context", "prompt_outside_retrieval"),
        ("abstention", "should_have_abstained"),
        ("abstention", "false_abstention"),
        ("generation", "unsupported_claim"),
        ("citation", "fabricated_citation"),
        ("citation", "invalid_citation"),
        ("citation", "mis_cited"),
    }


def test_faults_are_planted_in_cases_that_exist_and_settings_that_the_apps_have() -> None:
    assert PLANTED.keys() < CASES.keys()
    assert all(fault["why"] for fault in PLANTED.values())
    assert {
        question.case_id for app in ("security", "returns") for question in load_questions(app).each
    } == CASES.keys()


def test_every_span_ends_where_a_sentence_of_its_passage_does() -> None:
    spans = [
        (passage.id, passage.start, passage.end)
        for case in CASES.values()
        for requirement in case.requirements
        for group in requirement.groups
        for passage in group
        if passage.start is not None
    ]
    assert spans
    for name, start, end in spans:
        text = CORPUS.entries[name].text or ""
        assert text[start:end].endswith(".")
        assert text[:start].endswith(". ")


def test_the_decisive_sentence_is_the_one_that_the_requirement_states() -> None:
    requirement = CASES["truncated"].requirements[0]
    passage = requirement.groups[0][0]
    assert (CORPUS.entries[passage.id].text or "")[passage.start : passage.end] == requirement.fact


def test_the_script_answers_only_questions_that_are_asked() -> None:
    assert load_script().keys() <= {case.question for case in CASES.values()}


def test_reviews_bind_by_digest_to_cases_that_exist() -> None:
    """checklist 47."""
    for review in load_reviews(DATA / "reviews.yaml"):
        assert review.case_id in CASES
        assert review.answer_digest
        assert review.reviewed_at


def test_status_agrees_with_dates() -> None:
    """The corpus is read as it was on any day; on its own day that is what the manifest says."""
    loaded = load_passages(["northwind", "halcyon", "shared", "store"])
    assert {passage.id: str(passage.metadata["status"]) == "current" for passage in loaded} == {
        entry.id: entry.status == "current" for entry in CORPUS.entries.values()
    }


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_unanswerable_cases_say_why_and_expect_silence(case: Case) -> None:
    """checklist 9."""
    assert (case.why_unanswerable is None) == case.answerable
    assert (case.expected_outcome == "abstained") == (not case.answerable)
