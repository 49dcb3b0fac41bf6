"""Whole span trees as text: every span with its attributes, its order in time, its status and its links.

Ids are counted, and the clock ticks once a look, so that a tree is the same in every run. Times are shown as ranks
(`[0-5]`: the first instant of the tree to the sixth); a shape whose branches run side by side shows none.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import pytest
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.id_generator import IdGenerator

from rag_probe.path import EvidencePath
from rag_probe.protocols import Selection
from rag_probe_collector.dialects import INTEREST
from rag_probe_collector.otlp.decode import SpanDecoder
from rag_probe_collector.sources.traces import TraceSource
from rag_probe_langchain import RagProbeCallbackHandler
from tests.rag_probe_langchain.recorded import assert_well_formed

_UUID: Final = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
_START: Final = 1_800_000_000_000_000_000


class CountedIds(IdGenerator):
    """1, 2, 3, …"""

    def __init__(self) -> None:
        self._spans, self._traces = itertools.count(1), itertools.count(1)

    def generate_span_id(self) -> int:
        return next(self._spans)

    def generate_trace_id(self) -> int:
        return next(self._traces)


class Ticking:
    """In place of the module `time` in the handler's modules: a microsecond a look."""

    def __init__(self) -> None:
        self._ticks = itertools.count(_START, 1_000)

    def time_ns(self) -> int:
        return next(self._ticks)


@contextmanager
def ticking() -> Iterator[None]:
    """The handler's clock ticks instead of running."""
    clock = Ticking()
    with pytest.MonkeyPatch.context() as patch:
        for module in ("begin", "finish"):
            patch.setattr(f"rag_probe_langchain.{module}.time", clock)
        yield


class Recording:
    """A provider with counted ids, a handler that writes to it, and the spans."""

    def __init__(self, kind: Callable[..., RagProbeCallbackHandler] = RagProbeCallbackHandler, **options: Any) -> None:
        self.exporter = InMemorySpanExporter()
        self.provider = TracerProvider(id_generator=CountedIds())
        self.provider.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.handler = kind(tracer_provider=self.provider, **options)

    @property
    def spans(self) -> tuple[ReadableSpan, ...]:
        return self.exporter.get_finished_spans()

    def tree(self, *, parallel: bool = False) -> list[str]:
        """A line per span; checked to be well-formed, with nothing left open."""
        assert_well_formed(self.spans)
        return tree(self.spans, parallel=parallel)


def tree(spans: Sequence[ReadableSpan], *, parallel: bool = False) -> list[str]:
    """A line per span, indented by depth, siblings in order of time; `parallel`: in order of their text, untimed."""
    known = {span.context.span_id: span for span in spans}
    below: dict[int | None, list[ReadableSpan]] = {}
    for span in sorted(spans, key=lambda span: (span.start_time or 0, span.context.span_id)):
        parent = span.parent.span_id if span.parent is not None and span.parent.span_id in known else None
        below.setdefault(parent, []).append(span)
    instants = sorted({time for span in spans for time in (span.start_time, span.end_time) if time is not None})
    ranks = {time: rank for rank, time in enumerate(instants)}

    def shown(span: ReadableSpan, depth: int) -> list[str]:
        when = "" if parallel else f" [{ranks[span.start_time or 0]}-{ranks[span.end_time or 0]}]"
        line = f"{'  ' * depth}{span.name}{when}{_said(span, known)}"
        inner = [shown(child, depth + 1) for child in below.get(span.context.span_id, [])]
        return [line, *itertools.chain.from_iterable(sorted(inner, key=_text) if parallel else inner)]

    roots = [shown(span, 0) for span in below.get(None, [])]
    return _without_random_ids(list(itertools.chain.from_iterable(sorted(roots, key=_text) if parallel else roots)))


def _text(lines: Sequence[str]) -> list[str]:
    return [_UUID.sub("", line) for line in lines]


def _said(span: ReadableSpan, known: dict[int, ReadableSpan]) -> str:
    facts: dict[str, Any] = dict(sorted((span.attributes or {}).items()))
    if span.kind.name != "INTERNAL":
        facts["kind"] = span.kind.name
    if not span.status.is_unset:
        facts["status"] = span.status.status_code.name
    if span.links:
        facts["links"] = [known[each.context.span_id].name for each in span.links if each.context.span_id in known]
    told = " ".join(f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in facts.items())
    return f" | {told}" if told else ""


def _without_random_ids(lines: Sequence[str]) -> list[str]:
    """LangGraph's task and checkpoint ids, numbered in order of appearance."""
    seen: dict[str, str] = {}
    return [_UUID.sub(lambda found: seen.setdefault(found[0], f"uuid-{len(seen) + 1}"), line) for line in lines]


class _Memory:
    """A store of spans, as the collector reads one."""

    def __init__(self, spans: Sequence[ReadableSpan]) -> None:
        self._spans = SpanDecoder(INTEREST).decode(encode_spans(list(spans)).SerializeToString())

    def scan(self, selection: Selection) -> Iterator[list[Any]]:
        yield self._spans

    def load(self, traces: Any) -> Iterator[list[Any]]:
        yield [span for span in self._spans if span.trace_id in traces]


def paths_of(spans: Sequence[ReadableSpan]) -> list[EvidencePath]:
    """What the collector makes of the spans: exported, decoded and assembled."""
    return list(TraceSource(_Memory(spans)).paths(Selection()))
