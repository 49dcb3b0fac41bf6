"""Durable before acknowledged, and one copy of what was sent again (checklist: what it must show, 3)."""

import itertools
import random
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rag_probe_collector.spool import MalformedRequestError, SpoolError, SpoolReader, SpoolWriter, examine
from tests.otlp_batches import counted, payload, span, spans_in


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "spool.db"


def stored(path: Path) -> list[bytes]:
    with SpoolReader(path) as reader:
        return list(reader.batches())


def test_what_is_written_is_read_back_byte_for_byte(path):
    body = payload(span(1, at=5), span(2, at=6))
    with SpoolWriter(path) as writer:
        writer.write(body)
        assert stored(path) == [body]
    assert stored(path) == [body]


def test_a_repeated_request_is_stored_once_also_after_a_restart(path):
    body = payload(span(1))
    for _ in range(2):
        with SpoolWriter(path) as writer:
            for future in [writer.submit(examine(body)) for _ in range(5)]:
                future.result()
    assert stored(path) == [body]


def test_spans_without_ids_are_left_out_and_counted(path):
    with SpoolWriter(path) as writer:
        assert writer.write(payload(span(0), span(1), span(2, trace=0))).rejected == 2
        assert writer.write(payload(span(0))).rejected == 1
    assert spans_in(stored(path)) == [span(1)]


def test_a_malformed_request_leaves_the_rest_untouched(path):
    with SpoolWriter(path) as writer:
        writer.write(payload(span(1)))
        with pytest.raises(MalformedRequestError):
            writer.write(b"\xff\xff")
        writer.write(payload(span(2)))
    assert spans_in(stored(path)) == [span(1), span(2)]


def test_many_threads_are_acknowledged_only_when_a_reader_sees_their_spans(path):
    def send(number: int) -> bool:
        body = payload(span(number, trace=number))
        writer.write(body)
        with SpoolReader(path) as reader:
            return body in b"".join(reader.batches(trace_ids=[f"{number:032x}"]))

    with SpoolWriter(path) as writer, ThreadPoolExecutor(16) as senders:
        assert all(senders.map(send, range(1, 200)))
    assert set(counted(stored(path)).values()) == {1}
    assert len(spans_in(stored(path))) == 199


def test_waiting_requests_share_a_transaction(path):
    bodies = [payload(span(number)) for number in range(1, 101)]
    with SpoolWriter(path) as writer:
        blocker = sqlite3.connect(path, isolation_level=None)
        blocker.execute("BEGIN IMMEDIATE")
        futures = [writer.submit(examine(body)) for body in bodies]
        blocker.execute("ROLLBACK")
        blocker.close()
        assert not wait(futures, timeout=100).not_done
    assert len(stored(path)) <= 2
    assert spans_in(stored(path)) == spans_in(bodies)


def test_large_requests_keep_batches_of_their_own(path):
    bodies = [payload(span(number, note="x" * 700_000)) for number in range(1, 4)]
    with SpoolWriter(path) as writer:
        for future in [writer.submit(examine(body)) for body in bodies]:
            future.result()
    assert stored(path) == bodies


def test_closing_commits_what_is_queued_and_then_refuses(path):
    writer = SpoolWriter(path)
    futures = [writer.submit(examine(payload(span(number)))) for number in range(1, 50)]
    writer.close()
    writer.close()
    assert all(future.done() and future.exception() is None for future in futures)
    assert len(spans_in(stored(path))) == 49
    with pytest.raises(SpoolError, match="closed"):
        writer.submit(examine(payload(span(50))))


def test_a_full_disk_refuses_and_nothing_is_half_written(path, caplog):
    with SpoolWriter(path) as writer:
        writer.write(payload(span(1)))
        writer._connection.execute("PRAGMA max_page_count = 20")
        noise = random.Random(7).randbytes(500_000).hex()
        for _ in range(3):
            with pytest.raises(SpoolError, match="full"):
                writer.write(payload(span(2, note=noise)))
        writer._connection.execute("PRAGMA max_page_count = 1000000")
        writer.write(payload(span(3)))
        writer.write(payload(span(2, note=noise)))
    assert [found.name for found in spans_in(stored(path))] == ["span 1", "span 3", "span 2"]
    assert [record.levelname for record in caplog.records] == ["ERROR"]  # said once, not three times


def test_a_spool_that_was_removed_is_not_written_to(path):
    with SpoolWriter(path) as writer:
        writer.write(payload(span(1)))
        path.unlink()
        with pytest.raises(SpoolError, match="removed or replaced"):
            writer.write(payload(span(2)))


def test_two_writers_on_one_file_lose_and_double_nothing(path):
    bodies = [payload(span(number)) for number in range(1, 60)]
    with SpoolWriter(path) as one, SpoolWriter(path) as other:
        threads = [threading.Thread(target=lambda w=w: [w.write(body) for body in bodies]) for w in (one, other)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert counted(stored(path)) == counted(bodies)


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], max_examples=40, deadline=None
)
@given(
    numbers=st.lists(st.tuples(st.integers(1, 30), st.integers(1, 4)), min_size=1, max_size=30, unique=True),
    cuts=st.lists(st.integers(0, 30), max_size=6),
    again=st.lists(st.integers(0, 40), max_size=6),
    order=st.randoms(use_true_random=False),
)
def test_however_spans_are_split_repeated_and_shuffled_they_are_the_same_set(
    tmp_path_factory, numbers, cuts, again, order
):
    spans = [span(number, trace=trace, at=number) for number, trace in numbers]
    bounds = sorted({0, len(spans), *(cut for cut in cuts if cut < len(spans))})
    bodies = [payload(*spans[start:end]) for start, end in itertools.pairwise(bounds)]
    repeated = bodies + [bodies[index % len(bodies)] for index in again]
    order.shuffle(repeated)
    path = tmp_path_factory.mktemp("shuffled") / "spool.db"
    with SpoolWriter(path) as writer:
        for future in [writer.submit(examine(body)) for body in repeated]:
            future.result()
    assert counted(stored(path)) == counted([payload(*spans)])
