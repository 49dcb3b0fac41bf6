"""No code change: `opentelemetry-instrument python app.py`, or one line."""

# ruff: noqa: ANN401 - the signatures are OpenTelemetry's
from __future__ import annotations

from collections.abc import Collection
from typing import Any

from rag_probe.missing import MissingExtraError

try:
    from opentelemetry.instrumentation.instrumentor import BaseInstrumentor  # pyright: ignore - it is untyped
except ModuleNotFoundError as error:
    raise MissingExtraError("RagProbeInstrumentor", "langchain", error) from error

from rag_probe_langchain.handler import RagProbeCallbackHandler
from rag_probe_langchain.instrumenting import hook, langchain
from rag_probe_langchain.instrumenting.settings import options_of


class RagProbeInstrumentor(BaseInstrumentor):
    """Records every LangChain and LangGraph run of the process, as `RagProbeCallbackHandler` in every call would.

    Beside that, bodies of retrievers, models, tools and steps run inside their current span: what a database, an HTTP
    client, a provider's SDK or a logger records in there hangs under our step.

    `instrument(tracer_provider=…, meter_provider=…, policy=…, tokenizer=…, outcome=…, identity=…)` takes what the
    handler takes. Where a handler is also passed by hand, that one records. `uninstrument()` puts everything back; runs
    under way are recorded to their end.
    """

    def instrumentation_dependencies(self) -> Collection[str]:
        """What has to be installed."""
        return ("langchain-core >= 1.0",)

    def _instrument(self, **kwargs: Any) -> None:
        langchain.wrap()
        hook.install(RagProbeCallbackHandler(**options_of(kwargs)))

    def _uninstrument(self, **kwargs: Any) -> None:  # noqa: ARG002 - there are none
        hook.remove()
        langchain.unwrap()
