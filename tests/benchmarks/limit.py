"""The least that any handler could cost: it writes as many SDK spans with the same attributes, and looks at nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from langchain_core.callbacks import BaseCallbackHandler
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.trace import set_span_in_context

EVENTS: Final = (
    *(f"on_{kind}_{when}" for kind in ("chain", "retriever", "tool") for when in ("start", "end", "error")),
    *("on_chat_model_start", "on_llm_start", "on_llm_end", "on_llm_error"),
)


class Least(BaseCallbackHandler):
    """Writes the spans that it was given, spread over the callbacks that it hears, and looks at nothing."""

    run_inline = True

    def __init__(self, provider: TracerProvider, spans: Sequence[ReadableSpan], events: int) -> None:
        self._tracer = provider.get_tracer("least")
        root = next(span for span in spans if span.parent is None)
        self._root = (root.name, dict(root.attributes or {}), root.kind)
        self._others = [(each.name, dict(each.attributes or {}), each.kind) for each in spans if each is not root]
        self._due = [round((place + 1) * events / (len(self._others) + 1)) for place in range(len(self._others))]
        self._events = events
        self.fresh()

    def fresh(self) -> None:
        """Before each request."""
        self._heard = self._written = 0

    def hear(self, *_: Any, **__: Any) -> None:
        """One callback."""
        self._heard += 1
        if self._heard == 1:
            name, attributes, kind = self._root
            self._span = self._tracer.start_span(name, kind=kind, attributes=attributes)
            self._context = set_span_in_context(self._span)
        while self._written < len(self._due) and self._heard >= self._due[self._written]:
            name, attributes, kind = self._others[self._written]
            self._written += 1
            self._tracer.start_span(name, self._context, kind, attributes).end()
        if self._heard == self._events:
            self._span.end()


for _event in EVENTS:
    setattr(Least, _event, Least.hear)


class Count(BaseCallbackHandler):
    """How many callbacks a request makes."""

    run_inline = True

    def __init__(self) -> None:
        self.heard = 0

    def hear(self, *_: Any, **__: Any) -> None:
        """One callback."""
        self.heard += 1


for _event in EVENTS:
    setattr(Count, _event, Count.hear)
