"""Finding one trace or a time range without reading everything, also while the spool is written."""

import sqlite3
import threading
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rag_probe_collector.errors import InputError
from rag_probe_collector.spool import SpoolError, SpoolReader, SpoolWriter, StoredTrace, reader
from tests.otlp_batches import SECOND, payload, span, spans_in, trace_hex

BATCHES = {
    "first": payload(span(1, trace=1, at=10), span(2, trace=2, at=12)),
    "second": payload(span(3, trace=1, at=20)),
    "third": payload(span(4, trace=3, at=30)),
    "timeless": payload(span(5, trace=4)),
}
NAMES = {body: name for name, body in BATCHES.items()}


@pytest.fixture(scope="module")
def path(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("reader") / "spool.db"
    with SpoolWriter(path) as writer:
        for body in BATCHES.values():
            writer.write(body)
    return path


@pytest.fixture
def opened(path):
    with SpoolReader(path) as opened:
        yield opened


def at(seconds: float | None) -> int | None:
    return None if seconds is None else int(seconds * SECOND)


@pytest.mark.parametrize(
    ("since", "until", "traces", "expected"),
    [
        (None, None, None, ["first", "second", "third", "timeless"]),
        (12.5, None, None, ["first", "second", "third"]),
        (13, None, None, ["second", "third"]),
        (None, 10, None, ["first"]),
        (None, 9.9, None, []),
        (15, 20, None, ["second"]),
        (None, None, [1], ["first", "second"]),
        (None, None, [2, 4], ["first", "timeless"]),
        (None, None, [9], []),
        (None, None, [], []),
        (11, None, [1], ["second"]),
        (11, None, [2], ["first"]),
    ],
)
def test_batches_are_selected_by_time_and_trace(opened, since, until, traces, expected):
    ids = None if traces is None else [trace_hex(trace) for trace in traces]
    assert [NAMES[body] for body in opened.batches(at(since), at(until), ids)] == expected


def test_trace_ids_are_read_in_any_case_and_otherwise_refused(opened):
    wanted = "0" * 30 + "AB"
    assert list(opened.batches(trace_ids=[wanted])) == []
    for wrong in ("", "xyz", wanted + "00", wanted[:-1] + "é"):
        with pytest.raises(InputError, match="expected 32 hexadecimal digits"):
            opened.batches(trace_ids=[wrong])


def test_traces_are_listed_with_bounds_and_counts(opened):
    assert list(opened.traces()) == [
        StoredTrace(trace_hex(1), at(10), at(20.5), 2),
        StoredTrace(trace_hex(2), at(12), at(12.5), 1),
        StoredTrace(trace_hex(3), at(30), at(30.5), 1),
        StoredTrace(trace_hex(4), None, None, 1),
    ]
    assert [trace.trace_id for trace in opened.traces(since=at(15), until=at(29))] == [trace_hex(1)]


@pytest.mark.parametrize(
    ("query", "step"),
    [
        (reader._BATCHES_AT, "SCAN batch USING COVERING INDEX batch_by_time"),
        (reader._BATCHES_OF, "SEARCH trace USING PRIMARY KEY (trace_id=?)"),
    ],
)
def test_selecting_touches_no_body(path, query, step):
    connection = sqlite3.connect(path)
    values = {"since": 1, "until": 2, "trace_id": b"x"}
    assert [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {query}", values)] == [step]
    connection.close()


def test_two_readers_see_growing_prefixes_while_a_writer_writes(tmp_path):
    path = tmp_path / "spool.db"
    done = threading.Event()
    seen: dict[str, list[int]] = {"one": [], "other": []}

    def watch(name: str) -> None:
        with SpoolReader(path) as opened:
            while not done.is_set():
                spans = spans_in(opened.batches())
                assert [int.from_bytes(span.span_id) for span in spans] == list(range(1, len(spans) + 1))
                seen[name].append(len(spans))

    with SpoolWriter(path) as writer:
        watchers = [threading.Thread(target=watch, args=(name,)) for name in seen]
        for watcher in watchers:
            watcher.start()
        number = 0
        while number < 60 or not all(seen.values()):
            number += 1
            writer.write(payload(span(number)))
        done.set()
        for watcher in watchers:
            watcher.join()
    for counts in seen.values():
        assert counts
        assert counts == sorted(counts)


def test_a_damaged_batch_is_named_and_the_others_are_read(tmp_path):
    path = tmp_path / "spool.db"
    with SpoolWriter(path) as writer:
        for number in (1, 2, 3):
            writer.write(payload(span(number, trace=number)))
    connection = sqlite3.connect(path)
    for batch, body in ((1, b"no zstd"), (2, bytes.fromhex("28b52ffde0ffffffffffffff00"))):
        connection.execute("UPDATE batch SET body = ? WHERE id = ?", (body, batch))
    connection.commit()
    connection.close()
    with SpoolReader(path) as opened:
        for number, message in ((1, "batch 1 is damaged"), (2, "batch 2 claims to be larger")):
            with pytest.raises(SpoolError, match=message):
                list(opened.batches(trace_ids=[trace_hex(number)]))
        assert spans_in(opened.batches(trace_ids=[trace_hex(3)])) == [span(3, trace=3)]


def test_a_flipped_bit_is_noticed(tmp_path):
    path = tmp_path / "spool.db"
    with SpoolWriter(path) as writer:
        writer.write(payload(span(1, note="some text that is long enough to be kept literally")))
    connection = sqlite3.connect(path)
    (body,) = connection.execute("SELECT body FROM batch").fetchone()
    damaged = body[:40] + bytes([body[40] ^ 1]) + body[41:]
    connection.execute("UPDATE batch SET body = ?", (damaged,))
    connection.commit()
    connection.close()
    with SpoolReader(path) as opened, pytest.raises(SpoolError, match="damaged"):
        list(opened.batches())


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], max_examples=30, deadline=None
)
@given(
    groups=st.lists(
        st.lists(st.tuples(st.integers(1, 5), st.integers(0, 9)), min_size=1, max_size=4), min_size=1, max_size=5
    ),
    since=st.none() | st.integers(0, 10),
    until=st.none() | st.integers(0, 10),
    traces=st.none() | st.sets(st.integers(1, 6), max_size=3),
)
def test_selection_agrees_with_looking_at_every_span(tmp_path_factory, groups, since, until, traces):
    path = tmp_path_factory.mktemp("selection") / "spool.db"
    bodies: list[bytes] = []
    with SpoolWriter(path) as writer:
        for index, group in enumerate(groups):
            bodies.append(
                payload(*(span(100 * index + n, trace=trace, at=at) for n, (trace, at) in enumerate(group, 1)))
            )
            writer.write(bodies[-1])

    def chosen(body: bytes) -> bool:
        """By the extents that a batch declares: bounds over its spans, or over those of one of its traces."""
        spans = spans_in([body])
        ids = {span.trace_id for span in spans}
        kinds = [spans] if traces is None else [
            [span for span in spans if span.trace_id == trace] for trace in ids if int.from_bytes(trace) in traces
        ]  # fmt: skip
        return any(overlaps(kind) for kind in kinds)

    def overlaps(spans) -> bool:
        instants = [at for span in spans for at in (span.start_time_unix_nano, span.end_time_unix_nano) if at]
        if not instants:
            return since is None and until is None
        return (since is None or max(instants) >= since * SECOND) and (until is None or min(instants) <= until * SECOND)

    with SpoolReader(path) as opened:
        ids = None if traces is None else [trace_hex(trace) for trace in traces]
        assert list(opened.batches(at(since), at(until), ids)) == [body for body in bodies if chosen(body)]
