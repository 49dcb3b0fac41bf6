"""A delivery over a fork, and at an end that may not take long (issue B: where people run it)."""

from __future__ import annotations

import pytest
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from rag_probe import delivery
from rag_probe.delivery import Delivery

SUCCESS, FAILURE = SpanExportResult.SUCCESS, SpanExportResult.FAILURE


class Scripted(SpanExporter):
    """Answers what it is told to, and then succeeds."""

    def __init__(self, *results):
        self.results = list(results)
        self.calls = 0
        self.stopped = 0

    def export(self, spans):
        self.calls += 1
        result = self.results.pop(0) if self.results else SUCCESS
        if isinstance(result, Exception):
            raise result
        return result

    def shutdown(self):
        self.stopped += 1


@pytest.fixture
def process(monkeypatch):
    """Which process this is, to be changed by a test."""
    now = [1]
    monkeypatch.setattr(delivery.os, "getpid", lambda: now[0])
    monkeypatch.setattr(delivery, "_left_alone", [])
    return now


def test_a_child_has_an_exporter_of_its_own_and_leaves_its_parent_s_alone(process):
    first, second = Scripted(), Scripted()
    way = Delivery(first, lambda: second)
    way.export([])
    process[0] = 2
    assert way.export([]) is SUCCESS
    way.shutdown()
    assert (first.calls, first.stopped, second.calls, second.stopped) == (1, 0, 1, 1)
    assert delivery._left_alone == [first]


def test_a_child_that_is_stopped_before_it_sends_leaves_its_parent_s_alone_too(process):
    first = Scripted()
    way = Delivery(first, Scripted)
    process[0] = 2
    way.shutdown()
    way.shutdown()
    assert (first.stopped, delivery._left_alone) == (0, [first])


def test_an_exporter_that_may_be_shared_is_kept(process):
    first = Scripted()
    way = Delivery(first, None)
    process[0] = 2
    assert (way.export([]), first.calls) == (SUCCESS, 1)


def test_where_no_other_is_to_be_had_it_fails_and_says_so(process):
    way = Delivery(Scripted(), lambda: None)
    process[0] = 2
    assert (way.export([]), way.failures) == (FAILURE, 1)


def test_each_failure_counts_and_the_next_batch_is_tried():
    exporter = Scripted(FAILURE)
    way = Delivery(exporter, None)
    assert [way.export([]) for _ in range(2)] == [FAILURE, SUCCESS]
    assert (way.failures, exporter.calls) == (1, 2)


def test_what_an_exporter_raises_is_a_failure_too_and_the_processor_s_to_say():
    way = Delivery(Scripted(OSError("refused"), OSError("refused")), None)
    with pytest.raises(OSError, match="refused"):
        way.export([])
    way.hurried = True
    with pytest.raises(OSError, match="refused"):
        way.export([])
    assert (way.export([]), way.failures) == (FAILURE, 3)


def test_hurried_the_first_failure_is_the_last_try():
    exporter = Scripted(SUCCESS, FAILURE)
    way = Delivery(exporter, None)
    way.hurried = True
    assert [way.export([]) for _ in range(4)] == [SUCCESS, FAILURE, FAILURE, FAILURE]
    assert (way.failures, exporter.calls) == (3, 2)


def test_after_its_shutdown_everything_fails_and_nothing_is_called():
    exporter = Scripted()
    way = Delivery(exporter, None)
    way.shutdown()
    assert (way.export([]), exporter.calls, exporter.stopped) == (FAILURE, 0, 1)
