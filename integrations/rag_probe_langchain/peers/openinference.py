"""openinference-instrumentation-langchain: a span for every run."""

# ruff: noqa: ANN401 - another's object
from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rag_probe_langchain.peers.look import Look


def spans_of(handler: Any) -> Look:
    """By its public look-up."""
    return handler.get_span
