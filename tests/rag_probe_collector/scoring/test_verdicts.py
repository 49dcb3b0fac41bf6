"""Validations against reviews: a bad draft that passed, a good one refused (issue C; contracts 6; checklist 170)."""

from __future__ import annotations

import hashlib
import hmac

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_probe.path import Step, Verdict
from rag_probe.stages import Answer, Content, Node
from rag_probe_collector.register import Review
from rag_probe_collector.scoring.case_json import case_json
from tests.rag_probe_collector.scoring.build import case, claim, claims, counts, path, scored

KEY = b"key"
A = case("a", "a")
GOOD, BAD = "yes", "no"


def digest(text):
    return hmac.new(KEY, text.encode(), hashlib.sha256).hexdigest()


def content(text):
    """Held back, under a key."""
    return Content(length=len(text), digest=digest(text))


def verdict(passed, text=None, step=1, **more):
    return Verdict(passed, "check", step, None if text is None else content(text), **more)


def about(text, supported=1, total=1, **more):
    return Review(
        case_id="q",
        reviewer="mira",
        answer_digest=digest(text),
        supported_claims=supported,
        total_claims=total,
        **more,
    )


def answered(*verdicts, text=GOOD, **more):
    answer = Answer(outcome="answered", content=content(text))
    return path("a", "a", "a", **{"answer": answer, **more}, verdicts=verdicts)


def found(row):
    return [each.reason for each in row.findings if each.name == "wrong_verdict"]


def test_a_bad_draft_that_passed_and_came_out_is_the_models_fault_first_and_the_validations_too():
    row = scored(A, answered(verdict(True, BAD, 4), text=BAD), about(BAD, 0))
    assert (row.broken_stage, row.mechanism) == ("generation", "unsupported_claim")
    assert found(row) == ["check passed a bad draft in step 4"]


def test_a_good_draft_that_was_refused_breaks_the_validation():
    row = scored(
        A, answered(verdict(False, GOOD, 2), verdict(True, "Yes.", 4), text="Yes."), about("Yes."), about(GOOD)
    )
    assert (row.broken_stage, row.mechanism) == ("validation", "wrong_verdict")
    assert found(row) == ["check refused a good draft in step 2"]
    assert row.violations == ()
    assert row.metrics["verdict_accuracy"][:4] == (0.5, 1, 2, 2)


def test_a_bad_draft_that_passed_and_was_mended_later_breaks_the_validation():
    row = scored(A, answered(verdict(True, BAD)), about(GOOD), about(BAD, 0))
    assert (row.broken_stage, found(row)) == ("validation", ["check passed a bad draft in step 1"])


def test_right_verdicts_break_nothing():
    row = scored(A, answered(verdict(False, BAD), verdict(True, GOOD)), about(GOOD), about(BAD, 0))
    assert (row.broken_stage, found(row)) == ("none", [])
    assert row.metrics["verdict_accuracy"] == (1.0, 2, 2, 2, None)


def test_the_answers_own_review_counts_for_the_draft_that_became_it():
    """Bound by the path, with nothing to compare but what the source says."""
    bare = Content(length=3)
    final = Verdict(True, "check", 1, bare, final=True)
    unknown = Verdict(True, "check", 1, bare)
    row = scored(A, answered(final, unknown, answer=Answer(outcome="answered", content=bare)), counts(1, 1))
    assert row.drafts == (True, None)
    row = scored(A, answered(final, answer=Answer(outcome="answered", content=bare)), counts(0, 1))
    assert found(row) == ["check passed a bad draft in step 1"]


@pytest.mark.parametrize(
    "reviews",
    [
        (),
        (about("another"),),
        (about(BAD, 0, experiment="another"),),
        (about(BAD, 0, evidence_version="0" * 64),),
        (counts(0, 1),),  # bound by the path: it is about the answer
        (claims(claim(context=None), path_id=None, answer_digest=digest(BAD)),),
    ],
)
def test_without_a_review_that_counts_a_verdict_is_undecided_and_nothing_is_accused(reviews):
    """Null is never a pass."""
    row = scored(A, answered(verdict(True, BAD), verdict(True)), *reviews)
    assert row.drafts == (None, None)
    assert found(row) == []
    value = row.metrics["verdict_accuracy"]
    assert (value.value, value.n) == (None, 2)
    assert value.reason == "2 of 2 verdicts are undecided: no review counts for their drafts"


def test_some_undecided_are_counted_beside_the_figure():
    row = scored(A, answered(verdict(False, BAD), verdict(True, GOOD)), about(GOOD))
    value = row.metrics["verdict_accuracy"]
    assert (value.value, value.denominator, value.n) == (1.0, 1, 2)
    assert value.reason == "1 of 2 verdicts are undecided: no review counts for their drafts"


@pytest.mark.parametrize(
    ("labels", "good"),
    [
        ({}, True),
        ({"correct": False}, False),
        ({"context": False}, False),
        ({"citation": False}, False),
        ({"correct": None}, None),
    ],
)
def test_what_a_review_with_claims_says_of_a_draft(labels, good):
    review = claims(claim(**labels), path_id=None, answer_digest=digest(BAD))
    assert scored(A, answered(verdict(True, BAD)), review).drafts == (good,)


def test_of_two_reviewers_the_one_who_found_a_wrong_claim_counts():
    kind, strict = (
        claims(claim(correct=correct), path_id=None, answer_digest=digest(BAD), reviewer=str(correct))
        for correct in (True, False)
    )
    for reviews in ((kind, strict), (strict, kind)):
        assert scored(A, answered(verdict(True, BAD)), *reviews).drafts == (False,)


def test_no_validation_and_none_at_all():
    assert scored(A, answered()).metrics["verdict_accuracy"].reason == "no draft was judged"
    row = scored(A, path("a", "a", "a"))
    assert row.metrics["verdict_accuracy"].reason == "no validation was captured"


drafts = st.sampled_from(["one", "two", "three"])


@given(
    st.lists(st.tuples(st.booleans(), st.none() | drafts), max_size=6),
    st.dictionaries(drafts, st.booleans()),
    st.randoms(use_true_random=False),
)
def test_each_verdict_is_decided_by_its_own_drafts_review_alone(given_verdicts, good, order):
    """Whatever the order of the reviews; the figure is what one counts by hand."""
    reviews = [about(text, int(is_good)) for text, is_good in good.items()]
    order.shuffle(reviews)
    row = scored(A, answered(*[verdict(passed, text) for passed, text in given_verdicts], text="four"), *reviews)
    right = [good[text] is passed for passed, text in given_verdicts if text in good]
    assert row.drafts == tuple(good.get(text) for _, text in given_verdicts)
    assert len(found(row)) == right.count(False)
    value = row.metrics["verdict_accuracy"]
    assert value.value == (sum(right) / len(right) if right else None)
    assert value.n == len(given_verdicts)


def test_the_row_tells_nodes_retries_and_verdicts_and_the_draft_only_with_content():
    draft = Content(length=3, text="yes")
    nodes = tuple(Step(Node(name=name, step=step, outcome="ok")) for step, name in enumerate(["draft", "check"] * 2, 1))
    row = scored(A, path("a", "a", "a", nodes=nodes, verdicts=(Verdict(True, "check", 2, draft),)), counts(1, 1))
    found = case_json(row)
    assert [each["name"] for each in found["nodes"]] == ["draft", "check", "draft", "check"]
    assert found["retries"] == {"total": 2, "nodes": {"draft": 1, "check": 1}, "complete": True}
    (only,) = found["verdicts"]
    assert only == {
        "node": "check",
        "step": 2,
        "passed": True,
        "draft_digest": None,
        "draft_length": 3,
        "draft": None,
        "good": True,
        "right": True,
    }
    assert case_json(row, with_content=True)["verdicts"][0]["draft"] == "yes"


def test_what_nobody_recorded_is_null_and_what_a_store_cannot_hold_is_at_least():
    assert {case_json(scored(A, path()))[name] for name in ("nodes", "retries", "verdicts")} == {None}
    stored = path(nodes=(Step(Node(name="draft", step=1)),), not_captured=("nodes.attempt",))
    assert case_json(scored(A, stored))["retries"] == {"total": 0, "nodes": {}, "complete": False}
