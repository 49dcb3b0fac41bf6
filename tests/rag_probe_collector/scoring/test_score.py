"""Violations beyond the strict profile's files: traces with gaps, inferences, parents, repeats."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_probe.path import Step
from rag_probe.stages import Answer, Chunks, Generation, Identity
from rag_probe_collector.register import VIOLATIONS
from rag_probe_collector.scoring import CHECKS
from rag_probe_collector.scoring.case_json import case_json
from tests.rag_probe_collector.scoring.build import (
    answered,
    case,
    claim,
    claims,
    context,
    counts,
    labelled,
    path,
    retrieval,
    reviews,
    scored,
)

A = case("a b", "a")
FINE = counts(1, 1)


def findings(row):
    return {(each.name, each.stage, each.ids, each.inferred) for each in row.findings}


def test_the_checks_are_the_eight():
    assert tuple(CHECKS) == VIOLATIONS


def test_a_leak_names_every_stage_that_showed_it():
    """Checklist 28: later removal hides nothing, and the stage is reported."""
    found = path("a z", "a z", "z", retrievals=(retrieval("a z", "a z y"),))
    assert findings(scored(A, found, FINE)) == {
        ("scope_leak", "candidates", ("z", "y"), False),
        ("scope_leak", "retrieved", ("z",), False),
        ("scope_leak", "context", ("z",), False),
        ("scope_leak", "citations", ("z",), False),
    }


def test_a_passage_made_from_an_allowed_one_is_allowed_and_not_the_other_way():
    """Contracts 2: membership follows parents; seeing the whole of which only a part is allowed is a leak."""
    made = Chunks(ids=("a1",), parents=("a",))
    assert scored(A, path(made, "a1", "a1"), FINE).violations == ()
    part_allowed = case("a1", "a1")
    assert scored(part_allowed, path(made, "a", "a1"), FINE).violations[0] == "scope_leak"


def test_a_passage_made_from_a_retrieved_one_is_not_outside_retrieval():
    found = path("a", "a1", "a1", retrievals=(retrieval("a", None),))
    assert "prompt_outside_retrieval" in scored(case("a a1", "a"), found, FINE).violations
    made = path("a", "a1", "a1", retrievals=(retrieval("a1", None, parents=("a",)),))
    assert scored(case("a a1", "a"), made, FINE).violations == ()


@pytest.mark.parametrize(
    ("found", "gaps"),
    [
        (path(None, "a", "a"), ("retrieved",)),
        (path(Chunks(ids=("a",), count=300), "a", "a"), ("retrieved",)),
        (path("a", context("a", count=300), "a"), ("context",)),
        (path("a", "a", None), ("citations",)),
        (path("a", "a", "a", None), ("answer.outcome",)),
        (path("a", "a", "a", not_captured=("retrievals.documents",)), ("retrieved",)),
        (path("a", "a", "a", not_captured=("context", "retrievals.query")), ("context",)),
    ],
)
def test_what_was_not_captured_is_named_and_accuses_nobody(found, gaps):
    """Contracts 6; must-handle 29: not captured is not recall 0."""
    row = scored(A, found, FINE)
    assert row.not_captured == gaps
    assert row.violations == ()
    assert (row.metrics["evidence_recall"].value is None) == ("retrieved" in gaps)
    assert (row.abstention_correct is None) == ("answer.outcome" in gaps)


def test_a_leak_in_what_is_known_shows_beside_a_gap():
    assert scored(A, path(None, "a z", "a"), FINE).violations == ("scope_leak",)


def test_an_inferred_value_taints_what_rests_on_it_alone():
    """Contracts 7."""
    silent = scored(A, path("a", "a", "", "abstained", inferred=("answer.outcome",)))
    assert findings(silent) == {("false_abstention", "answer", (), True)}
    outside = scored(A, path("a", "a b", "a", inferred=("answer.outcome",)), FINE)
    assert findings(outside) == {("prompt_outside_retrieval", "context", ("b",), False)}
    assert {each.inferred for each in scored(A, path("a", "a b", "a", inferred=("context",)), FINE).findings} == {True}
    whole = scored(A, path("a", "a", "", "abstained", inferred=("answer",)))
    assert findings(whole) == {("false_abstention", "answer", (), True)}


def test_a_review_observes_that_it_was_an_answer():
    """Whoever found claims in a text has seen that it is no silence."""
    row = scored(case("a"), path("a", "a", "a", inferred=("answer.outcome",)), FINE)
    assert findings(row) == {("should_abstain", "answer", (), False)}


@pytest.mark.parametrize("outcome", ["abstained", "clarification"])
def test_the_silence_that_a_case_expects_is_no_false_abstention(outcome):
    """Checklist 8, 126: an unsafe request has evidence and still must not be answered."""
    unsafe = replace(A, expected_outcome=outcome)
    row = scored(unsafe, path("a", "a", "", outcome))
    assert row.violations == ()
    assert row.abstention_correct is True
    other = scored(unsafe, path("a", "a", "a"), FINE)
    assert [each.name for each in other.findings] == ["outcome_unexpected"]


def test_a_friendly_text_is_no_answer():
    """Checklist 40: abstained with words is silence."""
    row = scored(case("a"), path("a", "a", "", "abstained", text="I cannot answer that."))
    assert (row.violations, row.abstention_correct) == ((), True)


def test_an_error_is_no_deliberate_silence():
    """Checklist 1, 126."""
    row = scored(case("a"), path("a", "a", "", "error"))
    assert row.abstention_correct is False
    assert [each.name for each in row.findings] == ["run_failed"]


def test_a_claim_that_is_supported_and_wrong_is_found():
    """Checklist 101 to 118: faithful and wrong is expressible, and many right claims do not hide it."""
    row = scored(A, path("a", "a", "a"), claims(claim(), claim(), claim(correct=False)))
    assert row.violations == ()
    assert [(each.name, each.reason) for each in row.findings] == [("incorrect_claim", "1 of 3 claims are wrong")]


def test_another_tenant_is_told():
    labelled_tenant = replace(A, tenant="acme")
    row = scored(labelled_tenant, path("a", "a", "a", identity=Identity(tenant="globex")), FINE)
    assert [each.name for each in row.findings] == ["other_tenant"]


def test_repeats_are_counted_per_stage_and_change_nothing_else():
    """Checklist 20: traces may repeat a chunk."""
    row = scored(A, path("a", "a a", "a a a", retrievals=(retrieval("a a"), retrieval("a"))), FINE)
    assert dict(row.duplicates) == {"retrieved": 2, "context": 1, "cited": 2}
    assert row.violations == ()


def test_tokens_are_summed_over_billed_calls_and_unknown_when_one_is():
    """Must-handle 12: a cache hit is not billed, a missing usage is unknown."""
    known = (
        Step(Generation(input_tokens=10, output_tokens=2)),
        Step(Generation(input_tokens=99, output_tokens=9, cache_hit=True)),
    )
    row = case_json(scored(A, path("a", "a", "a", generations=known), FINE))
    assert (row["tokens"]["input"], row["tokens"]["output"]) == (10, 2)
    row = case_json(scored(A, path("a", "a", "a", generations=(*known, Step(Generation(output_tokens=1)))), FINE))
    assert (row["tokens"]["input"], row["tokens"]["output"]) == (None, 3)
    assert case_json(scored(A, path("a", "a", "a"), FINE))["tokens"]["input"] is None


def test_content_leaves_only_when_asked_for():
    """Checklist 75 to 77."""
    secret = replace(A, question="secret question", notes="secret note")
    row = scored(secret, path("a", "a", "a", text="secret answer"), counts(1, 1, rationale="secret reason"))
    assert "secret" not in repr(case_json(row))
    assert repr(case_json(row, with_content=True)).count("secret") == 4


@given(labelled(), answered(), reviews)
def test_any_path_is_scored_and_findings_are_of_known_kinds(labels, found, review):
    row = scored(labels, found, *([review] if review is not None else []))
    assert set(row.violations) <= set(VIOLATIONS)
    assert (row.broken_stage == "none") == (row.mechanism is None)
    if row.gated_recall.value is None:
        assert row.gated_recall.reason
    case_json(row)


@given(labelled(), answered(), reviews, st.randoms(use_true_random=False))
def test_the_order_of_ids_changes_no_violation(labels, found, review, order):
    given_reviews = [review] if review is not None else []

    def shuffled(stage):
        if stage is None:
            return None
        mixed = list(stage.ids)
        order.shuffle(mixed)
        return replace(stage, ids=tuple(mixed))

    mixed = replace(found, context=shuffled(found.context), citations=shuffled(found.citations))
    one, other = scored(labels, found, *given_reviews), scored(labels, mixed, *given_reviews)
    assert one.violations == other.violations
    assert (one.broken_stage, one.mechanism) == (other.broken_stage, other.mechanism)


@given(labelled(), answered(), reviews)
def test_one_more_foreign_passage_adds_the_leak_and_hides_nothing(labels, found, review):
    """Checklist 28, 38: violations accumulate."""
    given_reviews = [review] if review is not None else []
    before = scored(labels, found, *given_reviews).violations
    leaking = replace(found, retrievals=(*(found.retrievals or ()), retrieval("", "foreign")))
    assert set(scored(labels, leaking, *given_reviews).violations) == {*before, "scope_leak"}


def test_a_run_that_failed_is_decided_whatever_it_left_unseen():
    """Contracts 1: nothing is said of what was not observed; the case has failed all the same, it is not incomplete."""
    row = scored(A, replace(path(), answer=Answer(outcome="error"), error="TimeoutError"))
    assert (row.broken_stage, row.mechanism, row.not_captured) == ("error", "TimeoutError", ())
    assert row.metrics["evidence_recall"].value is None
    assert scored(A, path()).not_captured
