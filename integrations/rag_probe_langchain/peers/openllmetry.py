"""opentelemetry-instrumentation-langchain (OpenLLMetry): a span for every run."""

# ruff: noqa: ANN401 - another's object
from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rag_probe_langchain.peers.look import Look


def spans_of(handler: Any) -> Look:
    """It holds them by run id, together with what it attached."""
    spans = handler.spans
    return lambda run_id: None if (holder := spans.get(run_id)) is None else holder.span
