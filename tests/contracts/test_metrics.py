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
from tests.rag_probe_collector.scoring.build import answered, case, labelled, reviews

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


@given(labels=labelled(), found=answered(), review=reviews)
def test_figures_stay_in_bounds_and_agree_with_their_counts(labels, found, review):
    facts = observe(prepare(labels), found, review)
    for metric in EVERY:
        value = metric.compute(facts)
        if value.value is None:
            assert value.reason, metric.name
            continue
        assert value.value >= 0, metric.name
        assert value.value <= 1 + 1e-12 or not metric.proportion, metric.name
        if value.denominator is not None:
            assert value.denominator > 0, metric.name
            assert value.value == value.numerator / value.denominator, metric.name


@given(labels=labelled(), found=answered(), review=reviews, order=st.randoms(use_true_random=False))
def test_what_is_about_sets_does_not_depend_on_order(labels, found, review, order):
    one = observe(prepare(labels), found, review)
    other = observe(prepare(labels), shuffled(found, order), review)
    for metric in EVERY:
        if metric.name not in ORDERED:
            assert metric.compute(one) == metric.compute(other), metric.name


def shuffled(found, order):
    changed = {}
    for name in ("retrieved", "context", "citations"):
        stage = getattr(found, name)
        if stage is not None:
            ids = list(stage.ids)
            order.shuffle(ids)
            changed[name] = replace(stage, ids=tuple(ids))
    return replace(found, **changed)
