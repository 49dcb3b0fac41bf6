"""Retrievers inside retrievers (issue B, must-handle 19): whole span trees, and the evidence path made of them.

The outermost output is the final one, what the inner ones returned are its candidates, what fell out is the difference,
and a model that is asked inside a retrieval never wrote the answer.
"""

from __future__ import annotations

import pytest
from langchain_core.runnables import RunnablePassthrough

from rag_probe_collector.metrics.labels import prepare
from rag_probe_collector.register import Case
from rag_probe_collector.scoring import score
from tests.rag_probe_langchain.apps import TEXTS, rag
from tests.scenarios.modes import MODES
from tests.scenarios.recording import Recording, paths_of, ticking
from tests.scenarios.retrievers import QUESTION, SHAPES

ALL = tuple(TEXTS)
SAME = tuple(mode for mode in MODES if mode not in ("invoke", "astream"))

EXPECTED = {
    # shape: what was returned, what fell out on the way, in which order a reranker put it
    "a vector store": ("gift returns old", "", None),
    "cut": ("returns sale", "gift staff old", None),
    "a cross-encoder": ("gift staff sale", "returns old", "gift staff sale"),
    "a reranker that scores": ("gift staff", "returns sale old", "gift staff"),
    "a reranker that numbers": ("4 3", "returns sale gift staff old", "4 3"),
    "a model that filters": ("returns gift", "sale staff old", None),
    "a model that extracts": ("#6 #7", "returns sale gift staff old", None),
    "a model that cuts pieces out": ("returns gift", "sale staff old", None),
    "pieces of named passages": ("returns gift", "sale staff old", None),
    "a pipeline": ("old staff", "returns sale gift", "old old staff"),
    "an ensemble": ("gift returns sale", "", None),
    "a merger": ("gift returns sale", "", None),
    "several queries": ("returns old gift sale", "", None),
    "a compressed ensemble": ("gift sale", "returns", "gift sale"),
    "an ensemble of which one is reranked": ("gift returns sale", "old", "gift returns"),
    "parents": ("old gift returns", "", None),
    "summaries": ("gift sale returns", "", None),
    "parents by hand": ("returns sale", "returns/0 returns/1 sale/0 sale/1", None),
    "a query that a model writes": ("returns old", "", None),
}
PARENTS = {"a reranker that numbers": ("old", "staff"), "a model that extracts": ("returns", "gift")}
CALLS = {
    "a model that filters": 5,
    "a model that extracts": 5,
    "a model that cuts pieces out": 5,
    "pieces of named passages": 5,
    "several queries": 1,
    "a query that a model writes": 1,
}


def ask(shape, mode="invoke"):
    recording = Recording()
    with ticking():
        MODES[mode](
            rag(search=SHAPES[shape](), steps=RunnablePassthrough()), QUESTION, {"callbacks": [recording.handler]}
        )
    return recording


def path_of(shape):
    (path,) = paths_of(ask(shape).spans)
    return path


@pytest.mark.parametrize("shape", SHAPES)
def test_the_tree_is_the_same_however_it_is_asked(shape, snapshot):
    tree = ask(shape).tree(parallel=True)
    assert tree == snapshot
    for mode in SAME:
        assert ask(shape, mode).tree(parallel=True) == tree


@pytest.mark.parametrize("shape", SHAPES)
def test_the_path_says_what_was_returned_what_fell_and_what_was_reranked(shape):
    path = path_of(shape)
    returned, fell, ranked = EXPECTED[shape]
    (retrieval,) = path.retrievals
    candidates = () if retrieval.stage.candidates is None else retrieval.stage.candidates.ids
    assert tuple(dict.fromkeys(retrieval.stage.documents.ids)) == path.retrieved.ids == tuple(returned.split())
    assert [name for name in candidates if name not in path.retrieved.ids] == fell.split()
    assert (None if path.reranked is None else " ".join(each.id for each in path.reranked)) == ranked
    assert path.retrieved.parents == PARENTS.get(shape, ())
    assert path.filtered is path.permissions is None
    assert set(path.context.ids) == set(path.retrieved.ids)
    assert path.context.dropped == ()
    assert "reranked" in path.not_captured or ranked is not None


@pytest.mark.parametrize("shape", SHAPES)
def test_a_model_that_is_asked_inside_a_retrieval_wrote_no_answer(shape):
    path = path_of(shape)
    assert len(path.generations) == CALLS.get(shape, 0) + 1
    assert path.answer_generation == CALLS.get(shape, 0)
    assert path.answer.outcome == "answered"
    assert path.citations.valid == (True,)


@pytest.mark.parametrize("shape", SHAPES)
def test_inner_candidates_count_for_leaks_and_nothing_is_counted_twice(shape):
    """Contracts 1: leaks are looked for everywhere, recall uses what was finally returned."""
    path = path_of(shape)
    returned, fell, _ = EXPECTED[shape]
    parents = PARENTS.get(shape, ())
    mine = frozenset(parents or returned.split())
    row = judged(path, mine, mine)
    leaked = {each.stage: each.ids for each in row.findings if each.name == "scope_leak"}
    foreign = tuple(name for name in fell.split() if name not in mine)
    shown = CALLS.get(shape) == len(ALL)  # to a model that filters or extracts
    places = ("candidates", "generations.context") if shown else ("candidates",)
    assert leaked == (dict.fromkeys(places, foreign) if foreign else {})
    assert row.metrics["evidence_recall"].value == 1


BROKEN = {
    "cut": ("gift", "retrieval"),
    "a cross-encoder": ("returns", "rerank"),
    "a reranker that scores": ("returns", "rerank"),
    "a model that filters": ("sale", "retrieval"),
    "a model that extracts": ("sale", "retrieval"),
    "a compressed ensemble": ("returns", "rerank"),
    "a pipeline": ("returns", "rerank"),
}


@pytest.mark.parametrize("shape", BROKEN)
def test_what_fell_inside_a_retrieval_is_lost_there(shape):
    """Contracts 6: `ranked_below_k`, at the stage `rerank` when a rerank was recorded."""
    gold, stage = BROKEN[shape]
    row = judged(path_of(shape), frozenset(ALL), frozenset([gold]))
    assert (row.broken_stage, row.mechanism) == (stage, "ranked_below_k")


def judged(path, allowed, gold):
    case = Case(id="q", segment="s", question=QUESTION, answerable=True, allowed_ids=allowed, gold_ids=gold)
    return score(prepare(case, None), path)
