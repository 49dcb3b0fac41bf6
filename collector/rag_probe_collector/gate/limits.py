"""Limits on metrics: checked before anything is scored, asked when everything is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from rag_probe_collector.errors import InputError
from rag_probe_collector.gate.report_json import MetricJson, SegmentJson
from rag_probe_collector.metrics import METRICS, find
from rag_probe_collector.metrics.value import Metric
from rag_probe_collector.register import Thresholds

_ROUNDING: Final = 1e-9
"""A mean of thirds must not miss its limit by the last bit of a float."""


def metrics_for(thresholds: Thresholds, name: str) -> tuple[Metric, ...]:
    """The report's metrics and those that have limits; raises `InputError` for an unknown one or a senseless limit."""
    extra: list[Metric] = []
    for wanted, bound in thresholds.metrics.items():
        metric = find(wanted)
        if metric is None:
            known = ", ".join(each.name for each in METRICS)
            raise InputError(f"{name}: metrics: expected one of {known}, got {wanted[:80]!r}; see `rag-probe metrics`")
        for side, limit in (("min", bound.min), ("max", bound.max)):
            if metric.proportion and limit is not None and not 0 <= limit <= 1:
                raise InputError(f"{name}: metrics.{metric.name}.{side}: expected a number from 0 to 1, got {limit}")
        if bound.min is None and bound.max is None:
            raise InputError(f"{name}: metrics.{metric.name}: expected min or max, got neither; add one")
        if bound.min is not None and bound.max is not None and bound.min > bound.max:
            raise InputError(f"{name}: metrics.{metric.name}: expected min <= max, got {bound.min:g} > {bound.max:g}")
        if metric not in METRICS:
            extra.append(metric)
    return (*METRICS, *extra)


def missed(
    thresholds: Thresholds, segments: Mapping[str, SegmentJson], metrics: Mapping[str, MetricJson]
) -> Iterator[str]:
    """One line for each limit that is not reached."""
    least = thresholds.minimum_recall
    for name, segment in segments.items():
        recall = segment["mean_evidence_recall"]
        if recall is not None and recall < least - _ROUNDING:
            yield f"segment {name}: mean recall {recall:.3f} is below {least:g}"
    for name, bound in thresholds.metrics.items():
        value = metrics[name]["mean"] if name in metrics else None
        if value is None:
            yield f"metric {name}: no case has it"
        elif bound.min is not None and value < bound.min - _ROUNDING:
            yield f"metric {name}: {value:.3f} is below {bound.min:g}"
        elif bound.max is not None and value > bound.max + _ROUNDING:
            yield f"metric {name}: {value:.3f} is above {bound.max:g}"
