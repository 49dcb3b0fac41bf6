"""The gate's word on rows of any kind: precedence, inference, gaps, exceptions, limits."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_probe_collector.errors import InputError
from rag_probe_collector.gate import conclude, metrics_for
from rag_probe_collector.register import Bound, Thresholds, Waiver
from rag_probe_collector.scoring.case_json import case_json
from tests.rag_probe_collector.scoring.build import (
    answered,
    case,
    claim,
    claims,
    counts,
    labelled,
    path,
    reviews,
    scored,
)

A = case("a b", "a")
FINE = counts(1, 1)
TODAY = date(2030, 1, 31)
ABOUT = {
    "source": "s",
    "register": "r",
    "experiment": None,
    "configurations": [],
    "models": [],
    "dataset_version": None,
    "corpus_version": None,
    "splits": {},
    "change": None,
    "trace_url": None,
    "generated_at": "2030-01-31T00:00:00Z",
    "left_out": 0,
    "warnings": [],
    "with_content": False,
}
ROWS = {
    "pass": scored(A, path("a", "a", "a"), FINE),
    "fail": scored(A, path("a z", "a", "a"), FINE),
    "pending": scored(A, path("a", "a", "a")),
    "incomplete": scored(A, path("a", "a", None), FINE),
    "inferred": scored(A, path("a", "a b", "a", inferred=("context",)), FINE),
    "wrong claim": scored(A, path("a", "a", "a"), claims(claim(correct=False))),
    "error": scored(case("a"), path("a", "a", "", "error", error="TimeoutError")),
}


def gated(*names, missing=(), thresholds=None, today=TODAY):
    rows = [case_json(ROWS[name]) for name in names]
    return conclude(rows, list(missing), ABOUT, thresholds or Thresholds(), None, today)


def word(name, **limits):
    found = gated(name, thresholds=Thresholds(**limits))
    return found["cases"][0]["verdict"], found["cases"][0]["why"]


def waiver(**more):
    return Waiver(**{"owner": "mira", "reason": "known", "expires": TODAY, **more})


@pytest.mark.parametrize(
    ("name", "right"),
    [
        ("pass", ("pass", [])),
        ("fail", ("fail", ["scope_leak"])),
        ("pending", ("pending", ["review_pending"])),
        ("incomplete", ("incomplete", ["citations was not captured"])),
        ("inferred", ("pending", ["prompt_outside_retrieval (inferred)"])),
        ("wrong claim", ("fail", ["incorrect_claim"])),
        ("error", ("fail", ["run_failed"])),
    ],
)
def test_the_word_on_a_row(name, right):
    """Contracts 6, 7."""
    assert word(name) == right


def test_thresholds_may_let_inferences_fail_and_gaps_pass():
    assert word("inferred", inferred="fail") == ("fail", ["prompt_outside_retrieval"])
    assert word("incomplete", accept_not_captured=("citations",)) == ("pass", [])
    assert word("incomplete", accept_not_captured=("context",))[0] == "incomplete"


@pytest.mark.parametrize(
    ("names", "missing", "code"),
    [
        (["pass"], 0, 0),
        (["pass", "pending"], 0, 4),
        (["pending", "fail"], 0, 1),
        (["pending", "fail", "incomplete"], 0, 3),
        (["pass"], 1, 3),
        (["fail"], 1, 3),
    ],
)
def test_the_first_exit_code_that_applies(names, missing, code):
    """Contracts 6: 3 before 1 before 4 before 0; PASS is 0 alone."""
    lost = [{"id": "lost", "segment": "s", "answerable": False, "repetition": None}] * missing
    found = gated(*names, missing=lost)
    assert (found["exit_code"], found["gate"]) == (code, "PASS" if code == 0 else "FAIL")
    assert bool(found["reasons"]) == (code != 0)


def test_an_exception_excuses_until_it_expires():
    """Checklist 58: it names its owner and reason, and the report shows whether it counted."""
    limits = Thresholds(blockers=(), exceptions=(waiver(violation="scope_leak"), waiver(case_id="other")))
    found = gated("fail", thresholds=limits)
    assert (found["exit_code"], found["cases"][0]["waived"]) == (0, ["scope_leak"])
    assert [each["state"] for each in found["thresholds"]["exceptions"]] == ["used", "unused"]
    found = gated("fail", thresholds=limits, today=date(2030, 2, 1))
    assert found["exit_code"] == 1
    assert [each["state"] for each in found["thresholds"]["exceptions"]] == ["expired", "expired"]


def test_a_blocker_is_never_excused_and_a_pending_review_neither():
    limits = Thresholds(exceptions=(waiver(case_id="q"),))
    assert gated("fail", thresholds=limits)["exit_code"] == 1
    assert gated("pending", thresholds=limits)["exit_code"] == 4
    assert gated("wrong claim", thresholds=limits)["exit_code"] == 0


def test_a_limit_on_a_metric():
    lower = Thresholds(metrics={"chunk_precision": Bound(min=0.6)})
    assert gated("inferred", "pass", thresholds=lower)["exit_code"] == 4
    higher = Thresholds(metrics={"chunk_precision": Bound(min=0.9)})
    found = gated("inferred", "pass", thresholds=higher)
    assert found["reasons"][-1] == "metric chunk_precision: 0.750 is below 0.9"
    assert gated("pass", thresholds=Thresholds(metrics={"context_tokens": Bound(max=10)}))["exit_code"] == 1


@pytest.mark.parametrize(
    ("metrics", "message"),
    [
        ({"faithfulness": Bound(min=0.5)}, "metrics: expected one of evidence_recall"),
        ({"nDCG@10": Bound(min=1.5)}, r"metrics.nDCG@10.min: expected a number from 0 to 1, got 1.5"),
        ({"AP": Bound()}, "metrics.AP: expected min or max"),
        ({"AP": Bound(min=0.9, max=0.1)}, "metrics.AP: expected min <= max, got 0.9 > 0.1"),
    ],
)
def test_a_senseless_limit_is_refused_before_scoring(metrics, message):
    """Checklist 51 to 53."""
    with pytest.raises(InputError, match=message):
        metrics_for(Thresholds(metrics=metrics), "limits.json")


def test_another_cut_is_measured_when_it_has_a_limit():
    names = [metric.name for metric in metrics_for(Thresholds(metrics={"nDCG@3": Bound(min=0)}), "limits.json")]
    assert "nDCG@3" in names
    assert len(names) == len(set(names))


def test_a_segment_without_answerable_cases_is_unknown_not_perfect():
    """Checklist 54, 55."""
    found = gated("error")
    assert found["segments"] == {"s": {"cases": 1, "answerable_cases": 0, "mean_evidence_recall": None}}


def test_a_missing_answerable_case_counts_as_nothing_found():
    """Must-handle 23."""
    lost = [{"id": "lost", "segment": "s", "answerable": True, "repetition": None}]
    assert gated("pass", missing=lost)["segments"]["s"] == {
        "cases": 2,
        "answerable_cases": 2,
        "mean_evidence_recall": 0.5,
    }


def test_nothing_adds_up_to_one_score():
    """Checklist 166."""
    text = repr(gated("pass", "fail")).lower()
    assert "overall" not in text
    assert "aggregate" not in text
    assert "'score'" not in text


@given(st.lists(st.tuples(labelled(), answered(), reviews), min_size=1, max_size=4))
def test_pass_means_that_every_row_passed(rows):
    found = [case_json(scored(labels, each, *([review] if review else []))) for labels, each, review in rows]
    report = conclude(found, [], ABOUT, Thresholds(), None, TODAY)
    assert (report["gate"] == "PASS") == (report["exit_code"] == 0)
    if report["gate"] == "PASS":
        assert all(
            row["verdict"] == "pass" and not row["violations"] and not row["not_captured"] for row in report["cases"]
        )
    assert sum(report["counts"][name] for name in ("pass", "fail", "pending", "incomplete")) == len(rows)
