"""Facts, not ids: groups, parents, revisions, and what survives of a cut passage (checklist 83 to 100)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_probe.stages import Chunks
from rag_probe_collector.metrics import find
from tests.rag_probe_collector.scoring.build import (
    case,
    claim,
    claims,
    context,
    corpus,
    facts,
    filtered,
    needs,
    path,
    permissions,
    retrieval,
)


def value(name, *arguments, **more):
    found = find(name).compute(facts(*arguments, **more))
    return found.value


TWO = case("G E D", "G E", requirements=(needs("G"), needs("E")))


def test_worked_requirements():
    """Checklist, worked values: standard and sale window."""
    full, cut = path("G E", "G E D", "G"), path("G E", "G", "G")
    assert value("requirement_recall@retrieved", TWO, cut) == 1
    assert value("requirement_recall@context", TWO, cut) == 0.5
    assert value("chunk_precision", TWO, cut) == 1
    assert value("requirement_recall@context", TWO, full) == 1
    assert value("chunk_precision", TWO, full) == pytest.approx(2 / 3)


def test_worked_citations():
    """Checklist, worked values: gold {leave-eligibility, manager-approval}."""
    labelled = case("leave approval parking", "leave approval")
    found = path("leave parking approval", "leave parking approval", "leave")
    review = claims(claim(), claim(), claim(context=False))
    assert value("evidence_recall", labelled, found) == 1
    assert value("citation_precision_evidence", labelled, found) == 1
    assert value("claim_support", labelled, found, review) == pytest.approx(2 / 3)


def test_a_mis_cited_claim_is_right_supported_and_not_supported_by_its_citation():
    """Checklist 101 to 105, 109 to 111, worked values: the sale claim, in context through E, cited as G."""
    found, review = path("G E", "G E", "G"), claims(claim(cited="G", citation=False))
    assert value("claim_correctness", TWO, found, review) == 1
    assert value("claim_context_support", TWO, found, review) == 1
    assert value("claim_cited_support", TWO, found, review) == 0
    assert value("citation_precision_support", TWO, found, review) == 0
    assert value("citation_validity", TWO, found, review) == 1


def test_an_uncited_claim_fails_cited_support_and_lowers_coverage():
    """Checklist 112, 158."""
    review = claims(claim(), claim(cited=None, citation=None), claim(cited=None, needs_citation=False))
    labelled, found = case("a", "a"), path("a", "a", "a")
    assert value("claim_cited_support", labelled, found, review) == 0.5
    assert value("citation_coverage", labelled, found, review) == pytest.approx(1 / 3)


def test_an_alternative_is_as_good_and_a_duplicate_is_nothing_more():
    """Checklist 15, 90 to 92; must-handle 21: [A, A] for gold {A, B}."""
    either = case("a b c", requirements=(needs("a", "b c"),), answerable=True)
    assert value("requirement_recall@retrieved", either, path("b c", "b c")) == 1
    assert value("requirement_recall@retrieved", either, path("b", "b")) == 0
    assert value("recall@5", either, path("b c", "b c")) == 1
    both = case("A B", "A B")
    assert value("evidence_recall", both, path("A A", "A A")) == 0.5
    one = case("a b c", requirements=(needs("a"), needs("a", "b")), answerable=True)
    assert value("requirement_recall@retrieved", one, path("a", "a")) == 1


def test_a_fact_that_the_question_supplies_needs_no_passage():
    """Checklist 89."""
    given_fact = needs("b").__class__(id="given", supplied_by_question=True)
    labelled = case("a", "a", requirements=(needs("a"), given_fact))
    assert value("requirement_recall@retrieved", labelled, path("a", "a")) == 1
    alone = case("a", requirements=(given_fact,), answerable=True)
    assert value("requirement_recall@retrieved", alone, path("a", "a")) is None


def test_a_group_that_this_caller_may_not_see_covers_nothing():
    """Checklist 100."""
    labelled = case("b", requirements=(needs("a"),), answerable=True)
    assert value("requirement_recall@retrieved", labelled, path("a", "a")) == 0


CUT = case("a", "a", requirements=(needs("a", start=10, end=20),))


@pytest.mark.parametrize(
    ("kept", "truncated", "right"),
    [
        ((), False, 1),
        (((0, 20),), True, 1),
        (((0, 15), (15, 30)), True, 1),
        (((12, 20), (0, 14)), True, 1),
        (((0, 19),), True, 0),
        (((0, 12), (13, 30)), True, 0),
        (((11, 20),), True, 0),
        ((), True, None),
        ((), None, None),
    ],
)
def test_a_crucial_sentence_lost_in_truncation_is_lost(kept, truncated, right):
    """Checklist 83: the passage is there, the required characters are not. What is not known is no figure."""
    found = path("a", context("a", kept=(kept,) if kept else (), truncated=(truncated,)), "a")
    assert value("requirement_recall@context", CUT, found) == right
    assert value("requirement_recall@retrieved", CUT, found) == 1
    assert value("prompt_evidence_recall", CUT, found) == 1


def test_two_parts_of_one_passage_add_up():
    found = path("a", context("a a", kept=(((0, 15),), ((15, 20),)), truncated=(True, True)), "a")
    assert value("requirement_recall@context", CUT, found) == 1
    found = path("a", context("a a", kept=(((0, 5),), ()), truncated=(True, False)), "a")
    assert value("requirement_recall@context", CUT, found) == 1


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)).map(sorted).map(tuple), min_size=1, max_size=4))
def test_kept_ranges_hold_the_span_exactly_when_every_character_does(ranges):
    found = path("a", context("a", kept=(tuple(ranges),), truncated=(True,)), "a")
    whole = all(any(start <= at < end for start, end in ranges) for at in range(10, 20))
    assert value("requirement_recall@context", CUT, found) == whole


def test_membership_follows_parents():
    """Contracts 2: a compressed passage stands for the one it was made from; a sibling does not."""
    chunks = Chunks(ids=("a1", "a2"), parents=("a", "a"))
    found = path(chunks, "a1", "a1")
    assert value("evidence_recall", case("a", "a"), found) == 1
    assert value("prompt_evidence_recall", case("a", "a"), found) == 1
    assert value("citation_validity", case("a", "a"), found) == 1
    assert value("citation_validity", case("a", "a"), path(chunks, "a1", "a")) == 1
    assert value("citation_validity", case("a", "a"), path(chunks, "a1", "a2")) == 0
    assert value("requirement_recall@context", CUT, found) is None, "what compression left of the span is not known"


def test_a_cycle_of_parents_ends():
    chunks = Chunks(ids=("a", "b"), parents=("b", "a"))
    assert value("evidence_recall", case("c", "c"), path(chunks, "a", "a")) == 0


def test_a_passage_in_another_revision_is_not_usable():
    """Checklist 93, 100; the manifest gives the revision that the label leaves out."""
    found = path(Chunks(ids=("a",), revisions=("1",)), "a", "a")
    labelled = case("a", "a", requirements=(needs("a", revision="2"),))
    assert value("requirement_recall@retrieved", labelled, found) == 0
    manifest = corpus(("a", "doc", "2", "current"))
    assert value("requirement_recall@retrieved", case("a", "a"), found, manifest=manifest) == 0
    assert value("evidence_recall", case("a", "a"), found, manifest=manifest) == 1, "by ids alone it is there"


def test_a_filter_and_a_check_have_their_own_recall():
    """Checklist 94, 95, 153."""
    labelled = case("a b", "a b")
    found = path("a b c", "a", "a", filtered=filtered("a c", "b"), permissions=permissions("a", "c"))
    assert value("requirement_recall@filtered", labelled, found) == 0.5
    assert value("requirement_recall@permitted", labelled, found) == 0.5
    assert value("filter_correctness", labelled, found) == 0.5
    assert value("permission_correctness", labelled, found) == 1
    assert value("requirement_recall@filtered", labelled, path("a b", "a", "a")) is None


def test_several_retrievals_have_no_one_ranking():
    found = facts(case("a", "a"), path("a", "a", "a", retrievals=(retrieval("a"), retrieval("a"))))
    assert find("AP").compute(found).reason == "several retrievals make no one ranking"


def test_context_tokens_are_known_for_all_or_not_at_all():
    """Checklist 98; null is not zero."""
    labelled = case("a", "a")
    assert value("context_tokens", labelled, path("a", context("a b", tokens=(3, 4)), "a")) == 7
    assert value("context_tokens", labelled, path("a", context("a b", tokens=(3, None)), "a")) is None
    assert value("context_tokens", labelled, path("a", context(""), "a")) == 0
    assert value("context_tokens", labelled, path("a", None, "a")) is None
