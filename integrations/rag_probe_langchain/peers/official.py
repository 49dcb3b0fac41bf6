"""opentelemetry-instrumentation-genai-langchain: a span for workflows, agents, retrievers, tools and most models."""

# ruff: noqa: ANN401, SLF001 - another's private names: where they move, only the nesting is lost
from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rag_probe_langchain.peers.look import Look


def spans_of(handler: Any) -> Look:
    """Plumbing is known to it without a span, and so is a model whose name it cannot tell."""
    get = handler._invocation_manager.get_invocation
    return lambda run_id: None if (invocation := get(run_id)) is None else invocation.span
