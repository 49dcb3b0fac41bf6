"""Spans of a store as paths: order, joins over traces, bounded memory."""

from __future__ import annotations

import tracemalloc
from collections.abc import Collection, Iterator

import pytest

from rag_probe.protocols import Selection
from rag_probe.stages import CaseTags, Chunks, Content, Node, Retrieval, Root
from rag_probe_collector.dialects import INTEREST
from rag_probe_collector.otlp.decode import SpanDecoder
from rag_probe_collector.otlp.span import Span
from rag_probe_collector.sources.index import TraceIndex
from rag_probe_collector.sources.traces import TraceSource
from tests.rag_probe_collector.spans import T0, Memory, S, foreign, node, request, source, stage, trace_id, workflow

ASKED = Root(question=Content(length=3))


def numbers(found) -> list[int]:
    return [int(path.trace_id, 16) for path in found]


def test_paths_come_oldest_first_however_they_are_stored():
    sent = [request(workflow(1, ASKED, trace=trace, at=at)) for trace, at in ((1, 30), (2, 10), (3, 20))]
    for kept in (100, 0):
        assert numbers(source(*sent, kept=kept, chunk=1).paths(Selection())) == [2, 3, 1]


def test_a_question_inside_a_long_trace_waits_for_its_turn():
    long = [foreign(9, at=0, took=999), workflow(1, ASKED, 9, at=1), workflow(2, ASKED, 9, at=50)]
    other = [workflow(1, ASKED, trace=2, at=25)]
    for kept in (100, 0):
        found = source(request(*long), request(*other), kept=kept, chunk=1).paths(Selection())
        assert numbers(found) == [1, 2, 1]


def test_a_source_can_be_read_again():
    same = source(request(workflow(1, ASKED)))
    assert list(same.paths(Selection())) == list(same.paths(Selection()))


def test_joins_reach_over_chunks():
    tags = Root(tags=CaseTags(case_id="c", case_run="r"))
    sent = [request(workflow(1, ASKED, trace=trace, at=trace)) for trace in range(2, 9)]
    sent += [request(workflow(1, tags, trace=1, at=1)), request(workflow(1, tags, trace=9, at=9))]
    joined = next(iter(source(*sent, kept=0, chunk=1).paths(Selection())))
    assert joined.trace_ids == (trace_id(1), trace_id(9))


class Narrow(Memory):
    """Looks only at the selected traces, as a store with an index does."""

    def scan(self, selection: Selection) -> Iterator[list[Span]]:
        return self.load(selection.traces) if selection.traces else super().scan(selection)


def test_a_resumed_question_finds_its_beginning_by_the_link():
    sent = [
        request(
            workflow(1, Root(thread_id="t", question=Content(text="why"))),
            node(2, Node(name="ask", task_id="7", outcome="interrupted"), 1, 1),
        ),
        request(
            workflow(1, Root(thread_id="t"), trace=2, at=900, links=((1, 1),)),
            node(2, Node(name="ask", task_id="7", outcome="ok"), 1, 901, trace=2),
        ),
    ]
    narrow = TraceSource(Narrow([one.SerializeToString() for one in sent]))
    (path,) = narrow.paths(Selection(traces=(trace_id(2),)))
    assert path.trace_ids == (trace_id(1), trace_id(2))
    assert path.question == Content(text="why")


COUNT = 300
FOUND = Retrieval(documents=Chunks(ids=tuple(f"chunk-{n}" for n in range(20))))


@pytest.fixture(scope="module")
def many() -> Memory:
    """Thirty messages of ten traces of five spans."""
    bodies = []
    for first in range(1, COUNT + 1, 10):
        spans = []
        for trace in range(first, first + 10):
            spans += [workflow(1, ASKED, trace=trace, at=trace)]
            spans += [stage(n, FOUND, 1, trace, trace=trace) for n in range(2, 6)]
        bodies.append(request(*spans).SerializeToString())
    return Memory(bodies)


class Indexed(Memory):
    """Finds the messages of a trace without decoding the others."""

    def load(self, traces: Collection[str]) -> Iterator[list[Span]]:
        decoder = SpanDecoder(INTEREST)
        for number in sorted({(int(trace, 16) - 1) // 10 for trace in traces}):
            yield [span for span in decoder.decode(self.bodies[number]) if span.trace_id in traces]


def traced_peak(act) -> int:
    tracemalloc.start()
    try:
        act()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_is_bounded_by_what_is_held_not_by_what_there_is(many):
    """Must-handle 41."""

    def read(kept):
        narrow = TraceSource(Indexed(many.bodies), kept=kept, chunk=50)
        assert sum(1 for _ in narrow.paths(Selection())) == COUNT

    read(50)  # what is made once is made
    assert traced_peak(lambda: read(50)) < traced_peak(lambda: read(10_000)) / 4


def test_the_index_takes_some_hundred_bytes_a_trace(many):
    index = TraceIndex()
    batches = list(many.scan(Selection()))
    size = traced_peak(lambda: [index.add(batch) for batch in batches])
    assert size / COUNT < 400
    assert index.groups()[0].start == T0 + 1_000_000


def test_spans_that_nobody_here_reads_are_said(caplog):
    """Silence would look like an empty source."""
    assert list(source(request(foreign(1), foreign(2, scope="other\x1b"))).paths(Selection())) == []
    (said,) = caplog.messages
    assert said == (
        "2 spans, no question among them: 2 are of no dialect that is read (rag_probe, genai); "
        "their scopes: opentelemetry.instrumentation.fastapi, other\\x1b"
    )


def test_spans_that_are_read_but_ask_nothing_are_no_silence_either(caplog):
    """An embedding is known, and is no question: beside the spans of a dialect that is not read it hid them."""
    embedding = S(1, attributes={"gen_ai.operation.name": "embeddings"}, scope="openai")
    assert list(source(request(embedding, foreign(2, 1), foreign(3, 1))).paths(Selection())) == []
    assert "3 spans, no question among them: 2 are of no dialect that is read" in caplog.text
    caplog.clear()
    assert list(source(request()).paths(Selection())) == []
    assert not caplog.text


def test_foreign_spans_beside_ours_are_nothing_to_say(caplog):
    assert len(list(source(request(foreign(1), workflow(2, ASKED, 1, at=1))).paths(Selection()))) == 1
    assert caplog.messages == []
