"""Prints docs/conventions.md: `python -m rag_probe.wire.document > docs/conventions.md`."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping

from rag_probe.instruments import INSTRUMENTS
from rag_probe.wire import CAP
from rag_probe.wire.columns import AT
from rag_probe.wire.descriptions import BY_HAND, SECTIONS, SPANS, Row
from rag_probe.wire.specimen import gaps, written

_HEAD = f"""\
# What rag-probe writes

Generated from the code by `make docs`; a test keeps it true. Names of the OpenTelemetry GenAI semantic conventions
v0.1.0 wherever they exist, `rag.*` for what they lack.

- Lists are parallel arrays of primitives in the order of their ids, never longer than {CAP}; a list that was cut has
  its true length in a count beside it. An array has no nulls: a column marked **gaps** that is known for some items
  only holds those, and `<name>{AT}` their places, from 0.
- Absent means not captured, and never zero. An empty list is a fact, written as a count of 0.
- Attributes marked **content** leave only with `OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true` (or
  `span_only`, `span_and_event`). All others always do. Offsets and lengths are in characters (code points).
- Beside another instrumentation (`beside=True`) every span hangs under the other's span of the same step, is INTERNAL,
  and is named after what it tells: `rag.answer {{name}}`, `rag.retrieval {{retriever}}`, `rag.generation {{model}}`,
  `rag.tool {{tool}}`, `rag.node {{node}}`. All `gen_ai.*` but the conversation are then written as `rag.gen_ai.*`, so
  that nobody counts a call or its tokens twice.
- Under `case(...)` the tags, from `rag.case.id` to `rag.corpus.version`, travel as W3C baggage under the same names.

## Spans
"""


_METRICS = """
## Metrics

Measured while a meter provider is set, of what the spans say; a step whose end nobody saw has no duration. A question
that the sampler refused is measured all the same, so that sums are not a sample of themselves: with a meter provider
it costs what a sampled one costs, less the spans. `RagProbeCallbackHandler(meter_provider=NoOpMeterProvider())` turns
them off. Of a list that was cut, only what is listed has a decision or a reason. An attribute has at most 100 values
in one process; later ones are `_OTHER`, and so is a reason that is a sentence. Figures carry exemplars where the SDK
takes them. They go where OTEL_METRICS_EXPORTER points, or to the app's own meter provider; `rag-probe collect`
acknowledges metrics and keeps none: give OTEL_EXPORTER_OTLP_METRICS_ENDPOINT another receiver.
"""

_LIMITS = """
## What stays in, and what limits do

With content off no question, chunk, prompt, answer, argument or result of a tool, message of an exception, sentence
given as a reason, or metadata beyond the allow-list leaves by spans, metrics or our own log. Names do: of steps, runs,
tools, nodes, models, policies, tokenizers and types of exceptions; ids of passages, callers, threads and calls; and
under `case(...)` its tags. With content on each text passes `CapturePolicy`'s redactor and is cut after it.

LangGraph's `TracePolicy` (`omit_payload`) is honoured for the node's own input and output: no text of a payload that it
changes leaves, ids and counts do. As in LangGraph, runs inside the node and the graph's own run are not affected.
LangSmith's switches (`LANGSMITH_HIDE_INPUTS`, …) are about what its client sends, and change nothing here.

An SDK that may hold fewer attributes than a span has (`OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT`, 128 unless set) drops the
oldest ones and counts them: the evaluator then names what may be missing `not_captured`. A limit on the length of
values (`OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT`, `SpanLimits`) leaves no mark, and would make one id of two: an id that does
not fit is left out with its list, which is then not captured, and the log says so once. 256 characters are enough.
"""


def document() -> str:
    """The whole page."""
    return "\n".join([_HEAD, *_spans(), *_sections(), *_metrics(), _LIMITS]).rstrip() + "\n"


def _spans() -> Iterator[str]:
    yield "| span | kind | scope | when |"
    yield "|---|---|---|---|"
    for span in SPANS:
        yield f"| `{span.name}` | {span.kind} | {span.scopes} | {span.when} |"


def _sections() -> Iterator[str]:
    types = {**written(), **BY_HAND}
    for section in SECTIONS:
        yield f"\n## {section.title}\n"
        yield "| attribute | type | unit or words | what it says |"
        yield "|---|---|---|---|"
        yield from (_row(row, types) for row in section.rows)


def _metrics() -> Iterator[str]:
    yield _METRICS
    yield "| metric | kind | unit | what it measures | attributes |"
    yield "|---|---|---|---|---|"
    for each in INSTRUMENTS:
        attributes = ", ".join(f"`{name}`" for name in each.attributes)
        yield f"| `{each.name}` | {each.kind} | {each.unit} | {each.about} | {attributes} |"


def _row(row: Row, types: Mapping[str, str]) -> str:
    marks = [mark for mark, holds in (("gaps", row.name in gaps(types)), ("content", row.content)) if holds]
    kind = ", ".join([types[row.name], *(f"**{mark}**" for mark in marks)])
    return f"| `{row.name}` | {kind} | {row.unit} | {row.about} |"


if __name__ == "__main__":
    sys.stdout.write(document())
