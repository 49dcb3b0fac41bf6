"""Metrics are sums over what spans say (issue B, Metrics), for any stage that can be written."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st
from opentelemetry import metrics as api
from opentelemetry.context import Context

from rag_probe import attributes as a
from rag_probe import instruments as i
from rag_probe import metering, stage
from rag_probe.metering import meter_of
from rag_probe.policy import is_code
from rag_probe.stages import Answer, Filtering, Generation, PermissionCheck, Retrieval
from rag_probe.wire import encode
from tests.measured import Metrics
from tests.rag_probe import strategies


def measured(stages):
    """The metrics of spans that say these stages."""
    metrics = Metrics()
    meter = meter_of(metrics.provider, "test")
    for each in stages:
        meter.ended(encode(each), 0.5, Context())
    return metrics


def total(stages, kind, count):
    return sum(count(each) or 0 for each in stages if isinstance(each, kind))


@given(st.lists(strategies.stages, max_size=6))
def test_sums_are_those_of_the_stages(stages):
    metrics = measured(stages)
    billed = [each for each in stages if isinstance(each, Generation) and not each.cache_hit]
    assert metrics.total(i.INPUT_TOKENS.name) == sum(each.input_tokens or 0 for each in billed)
    assert metrics.total(i.OUTPUT_TOKENS.name) == sum(each.output_tokens or 0 for each in billed)
    assert metrics.total(i.RETRIEVED.name) == total(
        stages, Retrieval, lambda each: each.documents and (each.documents.count or len(each.documents.ids))
    )
    assert metrics.total(i.DENIALS.name) == total(stages, PermissionCheck, lambda each: each.decisions.count("deny"))
    assert metrics.total(i.ANSWERS.name) == total(stages, Answer, lambda each: each.outcome is not None)
    assert metrics.total(i.CITATIONS.name) == total(
        stages, Answer, lambda each: each.citations and len(each.citations.ids)
    )


@given(st.lists(strategies.stages, max_size=6))
def test_labels_are_those_described_and_reasons_are_codes(stages):
    described = {each.name: set(each.attributes) for each in i.INSTRUMENTS}
    for name, points in measured(stages).points().items():
        for point in points:
            assert set(point.attributes) <= described[name]
            assert is_code(point.attributes.get(i.REASON, "none"))


def test_what_a_cut_list_does_not_hold_has_no_reason():
    stage = Filtering(kept=(), dropped=("a", "b"), reasons=("old", None), dropped_count=10)
    assert measured([stage]).counts()[i.DROPPED.name] == {
        ((i.REASON, "old"), (a.STAGE, "filter")): 1,
        ((a.STAGE, "filter"),): 9,
    }


def test_names_and_buckets_are_the_conventions_own():
    """genai-semconv.md: seconds and tokens; a unit and a word for each."""
    names = [each.name for each in i.INSTRUMENTS]
    assert not [name for name, times in Counter(names).items() if times > 1]
    for each in i.INSTRUMENTS:
        assert each.name.startswith(("gen_ai.", "rag."))
        assert (each.kind == "histogram") is each.name.endswith(".duration")
        assert each.unit == "s" if each.buckets else each.unit.startswith("{")
        assert list(each.buckets) == sorted(set(each.buckets))


def test_a_stage_outside_of_any_framework_is_measured_too(tracer, monkeypatch):
    metrics = Metrics()
    monkeypatch.setattr(api, "get_meter_provider", lambda: metrics.provider)
    with stage("permission", policy="v7") as s:
        s.allow("a")
        s.deny("b", "foreign_tenant")
    assert metrics.counts()[i.DENIALS.name] == {((a.PERMISSION_POLICY, "v7"), (i.REASON, "foreign_tenant")): 1}


def test_no_listener_no_meter():
    assert meter_of(None, "x") is None
    assert metering.meter_of(api.NoOpMeterProvider(), "x") is None
