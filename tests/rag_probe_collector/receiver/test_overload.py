"""A full queue refuses in a way that makes real exporters wait and send again; memory stays bounded."""

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import grpc
import pytest
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from rag_probe_collector.receiver.admission import ByteBudget
from rag_probe_collector.receiver.refusal import RefusalError
from tests.otlp_batches import payload, span
from tests.rag_probe_collector.receiver.conftest import PATIENCE
from tests.rag_probe_collector.receiver.test_exporters import exporter_to


def eventually(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.001)


@contextmanager
def disk_stuck(running) -> Iterator[None]:
    """Nothing can be committed within the block."""
    blocker = sqlite3.connect(running.db, PATIENCE, isolation_level=None)
    blocker.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        blocker.execute("ROLLBACK")
        blocker.close()


@contextmanager
def full(start, **limits) -> Iterator[object]:
    """Yield a collector whose queue holds one request and takes no other."""
    running = start(queued_bytes=1, **limits)
    with ThreadPoolExecutor(1) as sender, disk_stuck(running):
        first = sender.submit(running.post, payload(span(1)))
        eventually(lambda: running.collector.intake.budget.held)
        yield running
    assert first.result().status == 200


def test_overload_over_http_is_503_with_the_time_to_wait(start):
    with full(start) as running:
        answer = running.post(payload(span(2)))
        assert (answer.status, answer.headers["Retry-After"]) == (503, "1")
        status = Status.FromString(answer.body)
        assert status.code == 14
        info = RetryInfo()
        assert status.details[0].Unpack(info)
        assert info.retry_delay.seconds == 1
        assert b'"retryDelay":"1s"' in running.post(b'{"resourceSpans":[]}', "application/json").body
    assert running.spans() == [span(1)]


def test_overload_over_grpc_is_unavailable_with_retry_info_where_exporters_look(start):
    with full(start) as running:
        with pytest.raises(grpc.RpcError) as caught:
            running.export(payload(span(2)))
        assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
        trailers = dict(caught.value.trailing_metadata())
        assert RetryInfo.FromString(trailers["google.rpc.retryinfo-bin"]).retry_delay.seconds == 1
        assert Status.FromString(trailers["grpc-status-details-bin"]).code == 14


def when_refused(budget: ByteBudget) -> threading.Event:
    """Watch the budget, since exporters log each warning once and then keep quiet for a while."""
    take, refused = budget.take, threading.Event()

    def watched(count: int, own: int) -> None:
        try:
            take(count, own)
        except RefusalError:
            refused.set()
            raise

    budget.take = watched
    return refused


@pytest.mark.parametrize("kind", ["grpc", "http"])
def test_a_real_exporter_waits_and_succeeds(start, kind):
    memory = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(memory))
    provider.get_tracer("tests").start_span("late").end()
    provider.shutdown()
    with ThreadPoolExecutor(1) as sender:
        with full(start) as running:
            exporter = exporter_to(running, kind)
            refused = when_refused(running.collector.intake.budget)
            result = sender.submit(exporter.export, memory.get_finished_spans())
            assert refused.wait(PATIENCE)
        assert result.result(PATIENCE) is SpanExportResult.SUCCESS
    exporter.shutdown()
    assert {each.name for each in running.spans()} == {"span 1", "late"}


def test_a_request_that_is_not_durable_in_time_is_refused_and_not_doubled_when_sent_again(start):
    running = start(commit_seconds=0.05)
    body = payload(span(1))
    with disk_stuck(running):
        assert running.post(body).status == 503
    eventually(lambda: running.post(body).status == 200)  # a slow disk takes longer than that
    assert running.spans() == [span(1)]


def test_the_budget_is_whole_again_after_every_kind_of_request(start):
    running = start(request_bytes=1 << 20)
    bodies = [payload(span(1)), b"\xff", b"", bytes(2 << 20)]
    for body in bodies:
        running.post(body)
        running.post(body, "application/json")
    running.export(payload(span(2)))
    eventually(lambda: running.collector.intake.budget.held == 0)  # a moment after the answer


def test_one_request_alone_is_admitted_whatever_its_size():
    budget = ByteBudget(10)
    with budget.lease() as lease:
        lease.grow(8)
        lease.grow(100)
