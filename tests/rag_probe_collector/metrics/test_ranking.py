"""Rankings against trec_eval's own expected output, and the cases that others got wrong (must-handle 21 to 23)."""

from __future__ import annotations

import math
import os
from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_probe_collector.metrics.ranking import average_precision, hits, ndcg, reciprocal_rank

DATA = Path(os.environ.get("RAG_PROBE_SHARED", Path(__file__).parents[4] / "shared")) / "data" / "trec_eval"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the trec_eval data is not here (RAG_PROBE_SHARED)")

ids = st.lists(st.sampled_from("abcdefgh"), max_size=12)


def judged(name):
    grades = defaultdict(dict)
    for line in (DATA / name).read_text().splitlines():
        query, _, document, grade = line.split()
        grades[query][document] = float(grade)
    return grades


def returned(name):
    """A run file is not in rank order: by score, ties by descending name, as trec_eval ranks it."""
    rows = defaultdict(list)
    for line in (DATA / name).read_text().splitlines():
        query, _, document, _, score = line.split()[:5]
        rows[query].append((float(score), document))
    return {query: [document for _, document in sorted(each, reverse=True)] for query, each in rows.items()}


def expected(name, measure):
    rows = [line.split() for line in (DATA / name).read_text().splitlines()]
    return {query: float(value) for found, query, value in rows if found == measure}


MEASURES = {
    "P_5": lambda ranking, grades: hits(ranking, relevant(grades), 5) / 5,
    "P_10": lambda ranking, grades: hits(ranking, relevant(grades), 10) / 10,
    "recall_10": lambda ranking, grades: hits(ranking, relevant(grades), 10) / len(relevant(grades)),
    "map": lambda ranking, grades: average_precision(ranking, relevant(grades)),
    "recip_rank": lambda ranking, grades: reciprocal_rank(ranking, relevant(grades)),
    "ndcg_cut_5": lambda ranking, grades: ndcg(ranking, grades, 5),
    "ndcg_cut_10": lambda ranking, grades: ndcg(ranking, grades, 10),
}


def relevant(grades):
    return {document for document, grade in grades.items() if grade > 0}


@needs_data
@pytest.mark.parametrize("measure", MEASURES)
def test_every_query_as_trec_eval(measure):
    qrels, run, right = judged("qrels.test"), returned("results.test"), expected("out.test.aq", measure)
    ours = {query: MEASURES[measure](run[query], qrels[query]) for query in run}
    assert ours == {query: pytest.approx(right[query], abs=5e-5) for query in run}
    assert math.fsum(ours.values()) / len(ours) == pytest.approx(right["all"], abs=5e-5)


@needs_data
def test_a_query_without_results_counts_as_nothing_found():
    qrels, run, right = judged("qrels.test"), returned("results.trunc"), expected("out.test.aqc", "ndcg_cut_10")
    values = [ndcg(run.get(query, []), qrels[query], 10) for query in qrels]
    assert "302" not in run
    assert math.fsum(values) / len(values) == pytest.approx(right["all"], abs=5e-5)


def test_linear_gain():
    """The worked value of research/metrics.md."""
    grades = {"x": 2, "y": 0, "z": 1, "u": 2}
    assert ndcg(["x", "y", "z"], grades, 3) == pytest.approx(0.6646, abs=5e-5)


def test_equal_scores_are_not_resorted():
    """Must-handle 22: gold d3 in [d1, d2, d3]."""
    assert average_precision(["d1", "d2", "d3"], {"d3"}) == pytest.approx(1 / 3)
    assert ndcg(["d1", "d2", "d3"], {"d3": 1}, 10) == pytest.approx(0.5)


def test_nothing_relevant_has_no_figure():
    """Must-handle 24."""
    assert average_precision(["a"], set()) is None
    assert reciprocal_rank(["a"], set()) is None
    assert ndcg(["a"], {"a": 0, "b": -1}, 5) is None


@given(ids, st.sets(st.sampled_from("abcdefgh"), min_size=1), st.integers(1, 12))
def test_repeats_gain_nothing_and_nothing_passes_one(ranking, wanted, k):
    """Must-handle 21: relevant {a}, retrieved [a, a, b]."""
    again = [each for each in ranking for _ in (0, 1)]
    for measure in (average_precision, reciprocal_rank):
        assert 0 <= measure(ranking, wanted) <= 1
        assert measure(again, wanted) == measure(ranking, wanted)
    grades = dict.fromkeys(wanted, 1.0)
    assert 0 <= ndcg(ranking, grades, k) <= 1 + 1e-12
    assert ndcg(again, grades, k) == ndcg(ranking, grades, k)
    assert hits(again, wanted, k) == hits(ranking, wanted, k) <= min(k, len(wanted))
