"""What the callback adds to a request, in CPU of the whole process, beside the least that any handler could cost.

All variants run in one process, interleaved in shuffled order; after each request the process sleeps for 2 ms, so that
what pool and exporter threads do is counted; the slowest 5% are dropped; several processes are pooled. The limit is an
inline handler that does nothing but write as many SDK spans with the same attributes, spread over its callbacks.
"""

from __future__ import annotations

import multiprocessing
import random
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from langchain_core.callbacks import BaseCallbackHandler
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import set_span_in_context

from rag_probe.policy import CapturePolicy
from rag_probe_langgraph import RagProbeGraphHandler
from tests.benchmarks.apps import APPS
from tests.benchmarks.report import Ratio, table

ROUNDS: Final = 150
PROCESSES: Final = 3
_WARM_UP: Final = 30
_SLOWEST: Final = 0.05
_PAUSE: Final = 0.002

_EVENTS: Final = (
    *(f"on_{kind}_{when}" for kind in ("chain", "retriever", "tool") for when in ("start", "end", "error")),
    *("on_chat_model_start", "on_llm_start", "on_llm_end", "on_llm_error"),
)


class _Discard(SpanExporter):
    """So that what is measured is the writing of spans, not a network."""

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        return SpanExportResult.SUCCESS


class _Least(BaseCallbackHandler):
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


for _event in _EVENTS:
    setattr(_Least, _event, _Least.hear)


class _Count(BaseCallbackHandler):
    """How many callbacks a request makes."""

    run_inline = True

    def __init__(self) -> None:
        self.heard = 0

    def hear(self, *_: Any, **__: Any) -> None:
        """One callback."""
        self.heard += 1


for _event in _EVENTS:
    setattr(_Count, _event, _Count.hear)


class Added(NamedTuple):
    """CPU that one variant adds to a request of one app, in microseconds, in one process."""

    app: str
    variant: str
    micros: float


def recorded(app: Callable[[list[Any]], object], *, content: bool = False) -> tuple[ReadableSpan, ...]:
    """The spans that one request leaves."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    app([RagProbeGraphHandler(tracer_provider=provider, policy=CapturePolicy(content=content))])
    return exporter.get_finished_spans()


def _provider() -> TracerProvider:
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(_Discard()))
    return provider


def official(provider: TracerProvider) -> BaseCallbackHandler | None:
    """The handler of opentelemetry-instrumentation-genai-langchain alone, without its instrumentor; None without it."""
    try:
        from opentelemetry.instrumentation.genai.langchain import callback_handler
        from opentelemetry.util.genai.handler import TelemetryHandler
    except ImportError:
        return None
    return callback_handler.OpenTelemetryLangChainCallbackHandler(TelemetryHandler(tracer_provider=provider))


def variants(app: Callable[[list[Any]], object], provider: TracerProvider) -> dict[str, BaseCallbackHandler | None]:
    """What is compared, by name."""
    counter = _Count()
    app([counter])
    found: dict[str, BaseCallbackHandler | None] = {
        "nothing": None,
        "ours": RagProbeGraphHandler(tracer_provider=provider, policy=CapturePolicy()),
        "least": _Least(provider, recorded(app), counter.heard),
    }
    theirs = official(provider)
    return {**found, "official": theirs} if theirs is not None else found


def one_process(seed: int, rounds: int = ROUNDS) -> list[Added]:
    """All apps and variants, interleaved, in this process."""
    provider = _provider()
    apps = {name: make() for name, make in APPS.items()}
    handlers = {name: variants(app, provider) for name, app in apps.items()}
    order = [(name, variant) for name in apps for variant in handlers[name]]
    spent: dict[tuple[str, str], list[float]] = {each: [] for each in order}
    shuffle = random.Random(seed).shuffle
    for _ in range(_WARM_UP + rounds):
        shuffle(order)
        for name, variant in order:
            spent[name, variant].append(_request(apps[name], handlers[name][variant]))
    provider.shutdown()
    means = {each: _mean(times[_WARM_UP:]) for each, times in spent.items()}
    return [
        Added(name, variant, 1e6 * (means[name, variant] - means[name, "nothing"]))
        for name, variant in spent
        if variant != "nothing"
    ]


def _request(app: Callable[[list[Any]], object], handler: BaseCallbackHandler | None) -> float:
    if isinstance(handler, _Least):
        handler.fresh()
    callbacks = [] if handler is None else [handler]
    before = time.process_time()
    app(callbacks)
    time.sleep(_PAUSE)
    return time.process_time() - before


def _mean(times: Sequence[float]) -> float:
    kept = sorted(times)[: max(1, round(len(times) * (1 - _SLOWEST)))]
    return statistics.fmean(kept)


def pooled(processes: int = PROCESSES, rounds: int = ROUNDS) -> dict[tuple[str, str], float]:
    """The mean over several processes, by app and variant, in microseconds."""
    context = multiprocessing.get_context("spawn")
    results: list[Added] = []
    for seed in range(processes):  # one after the other: they would disturb each other
        with context.Pool(1) as pool:
            results += pool.apply(one_process, (seed, rounds))
    keys = dict.fromkeys((each.app, each.variant) for each in results)
    return {key: statistics.fmean(each.micros for each in results if (each.app, each.variant) == key) for key in keys}


def size(app: Callable[[list[Any]], object], *, content: bool) -> int:
    """Bytes of one request on the wire: OTLP protobuf, uncompressed."""
    return len(encode_spans(recorded(app, content=content)).SerializeToString())


def run() -> list[Ratio]:
    """CPU against the limit and, where it is installed, the official handler; bytes against their bounds."""
    micros = pooled()
    found: list[Ratio] = []
    for app in APPS:
        ours = micros[app, "ours"]
        least = "spans of the same content, written by a handler that looks at nothing"
        found.append(Ratio(f"handler, {app}: CPU added", ours, micros[app, "least"], "µs", least))
        if (app, "official") in micros:
            theirs = "the official LangChain handler, without its instrumentor"
            found.append(Ratio(f"handler, {app}: beside official", ours, micros[app, "official"], "µs", theirs))
    for name, make in APPS.items():
        found.append(Ratio(f"handler, {name}: size", size(make(), content=False), 10_240, "bytes", "content off"))
    return found


if __name__ == "__main__":
    print(table(run()))
