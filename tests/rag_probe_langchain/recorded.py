"""Spans as a test wants to read them: a tree of names and attributes, without times and random ids."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from rag_probe_langchain import RagProbeCallbackHandler, runs


class Recorder:
    """A provider of its own, a handler that writes to it, and what was written."""

    def __init__(self, kind: Callable[..., RagProbeCallbackHandler] = RagProbeCallbackHandler, **options: Any) -> None:
        sampler = options.pop("sampler", None)
        self.exporter = InMemorySpanExporter()
        self.provider = TracerProvider(sampler=sampler)
        self.provider.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.handler = kind(tracer_provider=self.provider, **options)

    @property
    def config(self) -> dict[str, Any]:
        return {"callbacks": [self.handler]}

    @property
    def spans(self) -> tuple[ReadableSpan, ...]:
        return self.exporter.get_finished_spans()

    def named(self, name: str) -> list[ReadableSpan]:
        return [span for span in self.spans if span.name == name or span.name.split(" ")[0] == name]

    def one(self, name: str) -> dict[str, Any]:
        """The attributes of the only span of that name."""
        (span,) = self.named(name)
        return dict(span.attributes or {})

    def lines(self, *wanted: str) -> list[str]:
        """Every trace, a line per span, indented by depth; with `wanted`, only those attributes (by prefix)."""
        return lines(self.spans, wanted)

    def names(self) -> list[str]:
        """The lines without attributes."""
        return lines(self.spans, ("status",))


def lines(spans: Sequence[ReadableSpan], wanted: Sequence[str] = ()) -> list[str]:
    ids = {span.context.span_id for span in spans}
    tasks: dict[str, str] = {}
    below: dict[int | None, list[ReadableSpan]] = {}
    for span in sorted(spans, key=lambda span: span.start_time):
        parent = span.parent.span_id if span.parent is not None and span.parent.span_id in ids else None
        below.setdefault(parent, []).append(span)

    def shown(span: ReadableSpan, depth: int) -> list[str]:
        facts = {
            key: _plain(value, tasks)
            for key, value in sorted((span.attributes or {}).items())
            if not wanted or key.startswith(tuple(wanted))
        }
        if not span.status.is_unset:
            facts["status"] = span.status.status_code.name
        told = " ".join(f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in facts.items())
        line = f"{'  ' * depth}{span.name}{' | ' if told else ''}{told}"
        return [line, *(each for child in below.get(span.context.span_id, []) for each in shown(child, depth + 1))]

    return [each for span in below.get(None, []) for each in shown(span, 0)]


def _plain(value: Any, tasks: dict[str, str]) -> Any:
    if isinstance(value, tuple):
        return [_plain(item, tasks) for item in value]
    if isinstance(value, str) and len(value.rpartition(":")[2]) == 36 and value.count("-") >= 4:
        name, colon, task = value.rpartition(":")
        return name + colon + tasks.setdefault(task, f"task-{len(tasks) + 1}")
    return value


def assert_well_formed(spans: Sequence[ReadableSpan]) -> None:
    """Each span once, ended, inside its parent's trace; nothing of ours is open any more."""
    by_id = {span.context.span_id: span for span in spans}
    assert len(by_id) == len(spans)
    for span in spans:
        assert span.end_time is not None
        assert span.start_time <= span.end_time
        if span.parent is not None and span.parent.span_id in by_id:
            parent = by_id[span.parent.span_id]
            assert parent.context.trace_id == span.context.trace_id
            assert parent.start_time <= span.start_time
    assert_nothing_open()


def assert_nothing_open() -> None:
    assert runs.OPEN == {}
    assert runs._roots == {}
