"""Milliseconds that kinds of stages took; what ran side by side counts once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rag_probe.stages import (
    ContextAssembly,
    Filtering,
    Generation,
    Node,
    PermissionCheck,
    Rerank,
    Retrieval,
    ToolCall,
)
from rag_probe_collector.assembly.record import Record
from rag_probe_collector.otlp.span import Span

_TIMED: Final[tuple[tuple[str, type], ...]] = (
    ("retrieval", Retrieval),
    ("rerank", Rerank),
    ("filter", Filtering),
    ("permission", PermissionCheck),
    ("context", ContextAssembly),
    ("generation", Generation),
    ("tool", ToolCall),
)
"""The kinds that take time, as the path's `stage_latency_ms` names them."""


def covered_ms(spans: Sequence[Span]) -> float | None:
    """Length of the union of the spans' intervals; None when none has both instants in their order."""
    if len(spans) == 1:
        only = spans[0]
        return (only.end - only.start) / 1e6 if 0 < only.start <= only.end else None
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
    kinds = [(name, [ran.span for ran in runs]) for name, kind in _TIMED if (runs := record.of(kind))]
    nodes: dict[str, list[Span]] = {}
    for ran in record.of(Node):
        nodes.setdefault(f"node:{ran.stage.name}", []).append(ran.span)
    kinds += nodes.items()
    kinds.sort(key=lambda kind: kind[1][0].start)
    return tuple([(name, total) for name, spans in kinds if (total := covered_ms(spans)) is not None])
