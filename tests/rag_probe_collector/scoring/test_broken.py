"""Each row of contracts 6: the earliest broken stage and how it broke (checklist 78 to 82)."""

from __future__ import annotations

import pytest

from rag_probe.path import Ranked, Step
from rag_probe.stages import Budget, Chunks, Generation, Node
from tests.rag_probe_collector.scoring.build import (
    broken,
    case,
    claim,
    claims,
    context,
    corpus,
    counts,
    filtered,
    needs,
    path,
    permissions,
    retrieval,
    scored,
)

A = case("a b c", "a")
FINE = counts(1, 1)
CUT = case("a", "a", requirements=(needs("a", start=10, end=20),))
STALE = case("a1 a2", "a2", requirements=(needs("a2", document="a", revision="2"),))
OLD = Chunks(ids=("a1",), documents=("a",), revisions=("1",))
LIMIT = Budget(limit=100)
ANSWERING = Step(Generation(context=context("a")))
OTHER = Step(Generation(context=context("a z")))
ROUTE = case("a", "a", expected_route="retrieve (draft check)+")


def nodes(*names):
    return tuple(Step(Node(name=name)) for name in names)


TABLE = {
    "nothing": (A, path("a b", "a", "a"), [FINE], ("none", None)),
    "foreign candidate": (
        A,
        path("a", "a", "a", retrievals=(retrieval("a", "a z"),)),
        [FINE],
        ("access", "foreign_retrieved"),
    ),
    "foreign retrieved, dropped later": (A, path("a z", "a", "a"), [FINE], ("access", "foreign_retrieved")),
    "foreign in a nested retrieval": (
        A,
        path("a", "a", "a", retrievals=(retrieval("a z"),)),
        [FINE],
        ("access", "foreign_retrieved"),
    ),
    "foreign reranked": (A, path("a", "a", "a", reranked=(Ranked("z", 1),)), [FINE], ("access", "foreign_retrieved")),
    "foreign in the prompt": (A, path("a", "a z", "a"), [FINE], ("access", "foreign_in_context")),
    "foreign in another prompt": (
        A,
        path("a", "a", "a", generations=(OTHER, ANSWERING), answer_generation=1),
        [FINE],
        ("access", "foreign_in_context"),
    ),
    "foreign cited": (A, path("a", "a", "a z"), [FINE], ("citation", "fabricated_citation")),
    "the run failed": (A, path("a", "a", "", "error", error="TimeoutError"), [], ("error", "TimeoutError")),
    "not retrieved": (A, path("b", "b", "b"), [FINE], ("retrieval", "not_retrieved")),
    "a candidate only": (
        A,
        path("b", "b", "b", retrievals=(retrieval("b", "b a"),)),
        [FINE],
        ("retrieval", "ranked_below_k"),
    ),
    "reranked below k": (
        A,
        path("b", "b", "b", retrievals=(retrieval("b", "b a"),), reranked=(Ranked("b", 1),)),
        [FINE],
        ("rerank", "ranked_below_k"),
    ),
    "reranked below k inside a retrieval": (
        A,
        path("b", "b", "b", retrievals=(retrieval("b", "b a", "b"),), reranked=(Ranked("b", 1),)),
        [FINE],
        ("rerank", "ranked_below_k"),
    ),
    "below k of one retrieval, another one was reranked": (
        A,
        path(
            "b c", "b c", "b", retrievals=(retrieval("b", "b", "b"), retrieval("c", "c a")), reranked=(Ranked("b", 1),)
        ),
        [FINE],
        ("retrieval", "ranked_below_k"),
    ),
    "dropped after another retrieval was reranked": (
        A,
        path("b a", "b", "b", retrievals=(retrieval("b", "b", "b"), retrieval("a", "a")), reranked=(Ranked("b", 1),)),
        [FINE],
        ("context", "dropped"),
    ),
    "denied inside a retrieval": (
        A,
        path("b", "b", "b", retrievals=(retrieval("b", "b a"),), permissions=permissions("b", "a")),
        [FINE],
        ("permission", "denied"),
    ),
    "filtered inside a retrieval": (
        A,
        path("b", "b", "b", retrievals=(retrieval("b", "b a"),), filtered=filtered("b", "a")),
        [FINE],
        ("filter", "filtered"),
    ),
    "reranked away": (A, path("a b", "b", "b", reranked=(Ranked("b", 1),)), [FINE], ("rerank", "ranked_below_k")),
    "another revision": (STALE, path(OLD, "a1", "a1"), [FINE], ("retrieval", "wrong_revision")),
    "filtered": (A, path("a b", "b", "b", filtered=filtered("b", "a")), [FINE], ("filter", "filtered")),
    "filtered without a record of the drop": (
        A,
        path("a b", "b", "b", filtered=filtered("b")),
        [FINE],
        ("filter", "filtered"),
    ),
    "denied": (A, path("a b", "b", "b", permissions=permissions("b", "a")), [FINE], ("permission", "denied")),
    "denied inside the search": (
        A,
        path("b", "b", "b", retrievals=(retrieval("b", "b a"),), permissions=permissions("b", "a")),
        [FINE],
        ("permission", "denied"),
    ),
    "filtered inside the search": (
        A,
        path("b", "b", "b", retrievals=(retrieval("b", "b a"),), filtered=filtered("b", "a")),
        [FINE],
        ("filter", "filtered"),
    ),
    "denied, then nothing left to filter": (
        A,
        path("a", "", "", "abstained", permissions=permissions("", "a"), filtered=filtered("")),
        [],
        ("permission", "denied"),
    ),
    "dropped": (A, path("a b", "b", "b"), [FINE], ("context", "dropped")),
    "dropped by a known budget": (A, path("a b", "b", "b", budget=LIMIT), [FINE], ("context", "dropped_by_budget")),
    "dropped, and budget is the reason told": (
        A,
        path("a b", context("b", dropped=("a",), dropped_reasons=("over_budget",)), "b"),
        [FINE],
        ("context", "dropped_by_budget"),
    ),
    "cut": (
        CUT,
        path("a", context("a", kept=(((0, 12),),), truncated=(True,)), "a"),
        [FINE],
        ("context", "span_truncated"),
    ),
    "pinned": (A, path("a", "a b", "a"), [FINE], ("context", "prompt_outside_retrieval")),
    "should be silent": (case("a"), path("a", "a", "a"), [FINE], ("abstention", "should_have_abstained")),
    "silent": (A, path("a", "a", "", "abstained"), [], ("abstention", "false_abstention")),
    "silent, for its evidence was filtered": (
        A,
        path("a", "", "", "abstained", filtered=filtered("", "a")),
        [],
        ("filter", "filtered"),
    ),
    "unsupported by counts": (A, path("a", "a", "a"), [counts(1, 2)], ("generation", "unsupported_claim")),
    "unsupported by context": (
        A,
        path("a", "a", "a"),
        [claims(claim(context=False, citation=False))],
        ("generation", "unsupported_claim"),
    ),
    "misread": (A, path("a", "a", "a"), [claims(claim(correct=False))], ("generation", "misread")),
    "fabricated": (A, path("a", "a", "a nowhere"), [FINE], ("citation", "fabricated_citation")),
    "not in the prompt": (A, path("a b", "a", "a b"), [FINE], ("citation", "invalid_citation")),
    "mis-cited": (A, path("a b", "a b", "b"), [claims(claim(cited="b", citation=False))], ("citation", "mis_cited")),
    "uncited claim": (
        A,
        path("a", "a", "a"),
        [claims(claim(), claim(cited=None, citation=False))],
        ("citation", "uncited"),
    ),
    "uncited answer": (A, path("a", "a", ""), [FINE], ("citation", "uncited")),
    "cited without an answer": (case("a"), path("a", "a", "a", "abstained"), [], ("citation", "cited_without_answer")),
    "another route": (ROUTE, path("a", "a", "a", nodes=nodes("retrieve", "draft")), [FINE], ("routing", "wrong_route")),
    "the expected route": (
        ROUTE,
        path("a", "a", "a", nodes=nodes("retrieve", "draft", "check", "draft", "check")),
        [FINE],
        ("none", None),
    ),
    "the permission is broken before the filter is": (
        A,
        path("a z", "", "", "abstained", filtered=filtered("", "a z")),
        [],
        ("access", "foreign_retrieved"),
    ),
    "nothing captured": (A, path(), [FINE], ("none", None)),
}


@pytest.mark.parametrize(("labelled", "found", "reviews", "right"), TABLE.values(), ids=TABLE.keys())
def test_the_first_row_that_applies(labelled, found, reviews, right):
    assert broken(labelled, found, *reviews) == right


def test_a_manifest_id_that_is_cited_is_a_leak_of_access():
    """It exists, so the model did not invent it."""
    manifest = corpus(("z", "doc", "1", "current"))
    assert broken(A, path("a", "a", "a z"), FINE, manifest=manifest) == ("access", "foreign_cited")


def test_a_fabricated_citation_is_still_a_listed_leak():
    row = scored(A, path("a", "a", "a nowhere"), FINE)
    assert row.violations == ("scope_leak", "invalid_citation")


def test_a_wrong_claim_that_rests_on_a_superseded_source():
    """Checklist 101 to 105: faithful and wrong."""
    manifest = corpus(("a", "doc", None, "superseded"))
    review = claims(claim(correct=False, supplied_context_ids=("a",)))
    assert broken(A, path("a", "a", "a"), review, manifest=manifest) == ("generation", "wrong_revision")


def test_documents_and_revisions_come_from_the_manifest_when_the_path_has_none():
    manifest = corpus(("a1", "doc", "1", "superseded"), ("a2", "doc", "2", "current"))
    found = path("a1", "a1", "a1")
    assert broken(case("a1 a2", "a2"), found, FINE, manifest=manifest) == ("retrieval", "wrong_revision")


def test_an_alternative_that_survives_saves_the_fact():
    """Checklist 15: the other group was filtered away, and nothing is broken."""
    either = case("a b", requirements=(needs("a", "b"),), answerable=True)
    assert broken(either, path("a b", "b", "b", filtered=filtered("b", "a")), FINE) == ("none", None)


def test_a_fact_is_lost_where_its_last_group_is():
    """One group never came, the other was denied: the permission check is where the fact was lost."""
    either = case("a b", requirements=(needs("a", "b"),), answerable=True)
    assert broken(either, path("b", "", "", "abstained", permissions=permissions("", "b"))) == ("permission", "denied")
    row = scored(either, path("b", "", "", "abstained", permissions=permissions("", "b")))
    ((coverage, loss),) = row.requirements
    assert (coverage.covered["retrieved"], coverage.covered["permitted"]) == (True, False)
    assert (loss.stage, loss.mechanism) == ("permission", "denied")


def test_the_earliest_of_several_losses_is_named():
    both = case("a b c", "a b")
    found = path("a c", "c", "c", filtered=filtered("c", "a"))
    assert broken(both, found, FINE) == ("retrieval", "not_retrieved")


def test_an_uncited_fact_is_a_loss_of_its_own_and_breaks_nothing():
    """Checklist 95: requirement recall in the citations."""
    row = scored(case("a b", "a b"), path("a b", "a b", "a"), FINE)
    assert row.broken_stage == "none"
    assert [loss and (loss.stage, loss.mechanism) for _, loss in row.requirements] == [None, ("citation", "uncited")]
