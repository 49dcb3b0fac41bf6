"""No code change for LangGraph: `opentelemetry-instrument python app.py`, or one line."""

# ruff: noqa: ANN401 - the signatures are OpenTelemetry's
from __future__ import annotations

from collections.abc import Collection
from typing import Any

from rag_probe.missing import MissingExtraError

try:
    from opentelemetry.instrumentation.instrumentor import BaseInstrumentor  # pyright: ignore - it is untyped
except ModuleNotFoundError as error:
    raise MissingExtraError("RagProbeGraphInstrumentor", "langgraph", error) from error

from rag_probe_langchain.instrumenting.settings import options_of
from rag_probe_langgraph.handler import RagProbeGraphHandler
from rag_probe_langgraph.wrapped import unwrap, wrap


class RagProbeGraphInstrumentor(BaseInstrumentor):
    """Records every LangGraph run of the process with what runs inside it, as `RagProbeGraphHandler` would.

    Bodies of nodes run inside their current span, and a graph that pauses or goes on is heard. Runs outside of graphs,
    and current spans in retrievers, models, tools and steps, are `RagProbeInstrumentor`'s part: each works alone.

    `instrument(tracer_provider=…, policy=…, tokenizer=…, outcome=…, identity=…)` takes what the handler takes. Where a
    handler is also passed by hand, that one records. `uninstrument()` puts everything back; runs under way are recorded
    to their end.
    """

    def instrumentation_dependencies(self) -> Collection[str]:
        """What has to be installed."""
        return ("langgraph >= 1.0",)

    def _instrument(self, **kwargs: Any) -> None:
        wrap(RagProbeGraphHandler(**options_of(kwargs)))

    def _uninstrument(self, **kwargs: Any) -> None:  # noqa: ARG002 - there are none
        unwrap()
