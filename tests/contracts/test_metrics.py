"""What every metric of the registry keeps, also the next one."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_probe.path import EvidencePath
from rag_probe_collector.metrics import FAMILIES, METRICS, find
from rag_probe_collector.metrics.facts import observe
from rag_probe_collector.metrics.labels import prepare
from tests.rag_probe_collector.scoring.build import answered, case, labelled, path, reviews

EVERY = [*METRICS, *(family(3) for family in FAMILIES.values())]
ORDERED = {"MRR", "AP", *(metric.name for metric in EVERY if "@" in metric.name and metric.name[-1].isdigit())}


def test_names_are_unique_and_found():
    names = [metric.name for metric in METRICS]
    assert len(names) == len(set(names))
    assert [find(name) for name in names] == list(METRICS)
    assert find("nDCG@3").name == "nDCG@3"
    assert [find(name) for name in ("nDCG@0", "nDCG@", "nothing", "nothing@3", "nDCG@123456")] == [None] * 5


@pytest.mark.parametrize("metric", EVERY, ids=lambda metric: metric.name)
def test_nothing_captured_is_no_figure_with_a_reason(metric):
    """Must-handle 24, 29: null, never 0 or 1, and the reason is told."""
    empty = EvidencePath(path_id="p", trace_id="t")
    for labels in (case("a", "a"), case()):
        found = metric.compute(observe(prepare(labels), empty))
        assert found.value is None
        assert found.reason
    assert metric.denominator


@pytest.mark.parametrize("metric", EVERY, ids=lambda metric: metric.name)
@given(labels=labelled(), found=answered(), review=reviews)
def test_figures_stay_in_bounds_and_agree_with_their_counts(metric, labels, found, review):
    value = metric.compute(observe(prepare(labels), found, review))
    if value.value is None:
        assert value.reason
        return
    assert value.value >= 0
    if metric.proportion:
        assert value.value <= 1 + 1e-12
    if value.denominator is not None:
        assert value.value == value.numerator / value.denominator
        assert value.denominator > 0


@pytest.mark.parametrize("metric", [each for each in EVERY if each.name not in ORDERED], ids=lambda metric: metric.name)
@given(labels=labelled(), found=answered(), review=reviews, order=st.randoms(use_true_random=False))
def test_what_is_about_sets_does_not_depend_on_order(metric, labels, found, review, order):
    assert metric.compute(observe(prepare(labels), shuffled(found, order), review)) == metric.compute(
        observe(prepare(labels), found, review)
    )


def shuffled(found, order):
    changed = {}
    for name in ("retrieved", "context", "citations"):
        stage = getattr(found, name)
        if stage is not None:
            ids = list(stage.ids)
            order.shuffle(ids)
            changed[name] = replace(stage, ids=tuple(ids))
    return replace(found, **changed)


def test_blank_paths_are_the_same_for_all():
    assert path("", "", "").retrieved.ids == ()
