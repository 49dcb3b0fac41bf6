"""Milliseconds that kinds of stages took; what ran side by side counts once."""

from __future__ import annotations

from collections.abc import Iterable

from rag_probe_collector.assembly.record import Record
from rag_probe_collector.otlp.span import Span


def covered_ms(spans: Iterable[Span]) -> float | None:
    """Length of the union of the spans' intervals; None when none has both instants in their order."""
    intervals = sorted([(span.start, span.end) for span in spans if 0 < span.start <= span.end])
    if not intervals:
        return None
    total = 0
    begun, ended = intervals[0]
    for start, end in intervals:
        if start > ended:
            total += ended - begun
            begun, ended = start, end
        elif end > ended:
            ended = end
    return (total + ended - begun) / 1e6


def stage_latencies(record: Record) -> tuple[tuple[str, float], ...]:
    """Per kind of stage and per node, in the order of their first start."""
    kinds = list(record.timed())
    nodes: dict[str, list[Span]] = {}
    for ran in record.nodes:
        nodes.setdefault(f"node:{ran.stage.name}", []).append(ran.span)
    kinds += nodes.items()
    kinds.sort(key=lambda kind: kind[1][0].start)
    totals = [(kind, covered_ms(spans)) for kind, spans in kinds]
    return tuple([(kind, total) for kind, total in totals if total is not None])
