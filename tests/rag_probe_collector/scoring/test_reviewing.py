"""Which review counts: bound, fresh, independent, finished (checklist 45 to 48, contracts 5)."""

from __future__ import annotations

import hashlib
import hmac

import pytest

from rag_probe.path import Step
from rag_probe.stages import Answer, Chunks, Content, Generation
from rag_probe_collector.register import Review
from rag_probe_collector.scoring import Reviews, evidence_version
from tests.rag_probe_collector.scoring.build import PATH_ID, claim, claims, path

KEY = b"key"
ANSWER = path("a b", "a b", "a", text="yes")
WORDS = b"yes"


def digest(text=WORDS):
    return hmac.new(KEY, text, hashlib.sha256).hexdigest()


def review(**more):
    known = {"case_id": "q", "reviewer": "mira", "total_claims": 1, "supported_claims": 1}
    return Review(**{**known, **more})


def verdict(*reviews, found=ANSWER, key=KEY):
    return Reviews(reviews, key).for_answer("q", found)


@pytest.mark.parametrize(
    "given",
    [
        review(path_id=PATH_ID),
        review(answer_digest=digest()),
        review(answer_digest=hashlib.sha256(WORDS).hexdigest()),
        review(path_id="another:run", answer_digest=digest()),
        review(path_id=PATH_ID, answer_digest=digest(), evidence_version=evidence_version(ANSWER)),
    ],
)
def test_a_review_binds_by_path_or_by_the_digest_of_the_answer(given):
    assert verdict(given).review == given


def test_a_recorded_digest_binds_without_the_text():
    """Content off: the trace holds the keyed digest only."""
    held_back = path("a", "a", "a", answer=Answer(outcome="answered", content=Content(length=3, digest=digest())))
    assert verdict(review(answer_digest=digest()), found=held_back, key=None).review is not None
    assert verdict(review(answer_digest=digest(b"no")), found=held_back).review is None


def test_a_cut_text_binds_nothing():
    cut = path("a", "a", "a", answer=Answer(outcome="answered", content=Content(length=9, text="yes")))
    assert verdict(review(answer_digest=digest()), found=cut).review is None


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ((), "nobody reviewed it"),
        ((review(path_id="another:run"),), "stale: it judged another answer"),
        ((review(answer_digest=digest(b"no")),), "stale: it judged another answer"),
        ((review(path_id=PATH_ID, answer_digest=digest(b"no")),), "stale: the answer differs"),
        ((review(path_id=PATH_ID, evidence_version="0" * 64),), "stale: the evidence differs"),
        ((review(path_id=PATH_ID, experiment="other"),), "belongs to another experiment"),
        ((claims(claim(), claim(context=None)),), "a label of its review is missing"),
        ((claims(claim(), claim(correct=None)),), "a label of its review is missing"),
        ((claims(),), "a label of its review is missing"),
        ((review(path_id=PATH_ID, total_claims=0, supported_claims=0),), "a label of its review is missing"),
        ((review(path_id=PATH_ID, supported_claims=None),), "a label of its review is missing"),
        ((review(path_id="another:run"), review(path_id=PATH_ID, evidence_version="0")), "the evidence differs"),
    ],
)
def test_a_review_that_does_not_count_says_why(given, why):
    found = verdict(*given)
    assert found.review is None
    assert why in found.why


@pytest.mark.parametrize("reviewer", ["gpt-x", "GPT-X ", "acme:gpt-x", "acme/gpt-x", "gpt-x-2030"])
def test_the_model_that_wrote_the_answer_is_no_reviewer(reviewer):
    """Checklist 48."""
    generation = Step(Generation(provider="acme", model="gpt-x", response_model="gpt-x-2030"))
    found = path("a", "a", "a", generations=(generation,))
    assert "refused" in verdict(review(path_id=PATH_ID, reviewer=reviewer), found=found).why
    assert verdict(review(path_id=PATH_ID, reviewer="gpt-y"), found=found).review is not None


def test_of_several_reviewers_the_strictest_counts():
    lenient, strict = review(path_id=PATH_ID), review(path_id=PATH_ID, reviewer="noor", supported_claims=0)
    assert verdict(lenient, strict).review == verdict(strict, lenient).review == strict


def test_the_version_of_the_evidence_is_its_order_ids_and_revisions():
    """Contracts 5; the algorithm is public, so that other tools can write it."""
    versions = {
        evidence_version(path("a b", "a b", "a")),
        evidence_version(path("a b", "b a", "a")),
        evidence_version(path(Chunks(ids=("a", "b"), revisions=("1", None)), "a b", "a")),
        evidence_version(path(Chunks(ids=("a", "b"), revisions=("2", None)), "a b", "a")),
    }
    assert len(versions) == 4
    rows = b'[["a",null],["b",null]]'
    assert evidence_version(ANSWER) == hashlib.sha256(rows).hexdigest()
    assert evidence_version(path("a", None, "a")) is None


def test_a_claim_that_needs_no_citation_is_supported_by_the_context_alone():
    """Contracts 5: how labels become counts."""
    assert claims(claim(cited=None, citation=None, needs_citation=False)).counts == (1, 1)
    assert claims(claim(citation=False), claim()).counts == (1, 2)
    assert claims(claim(context=False, citation=None)).counts == (0, 1), "one false label decides"
    assert claims(claim(citation=None)).counts is None
