"""What is remembered of runs that stopped: bounded, for a day, and for the next question of the thread (issue C)."""

from __future__ import annotations

import pytest
from opentelemetry.trace import INVALID_SPAN_CONTEXT as ROOT

from rag_probe_langchain import pauses


@pytest.mark.parametrize(
    ("paused", "graph", "step", "goes_on"),
    [
        (False, "desk", 4, True),
        (False, "desk", 3, False),
        (False, "desk", 5, False),
        (False, "other", 4, False),
        (False, "desk", None, False),
        (True, "desk", 3, True),
        (True, "desk", 9, True),  # its state was edited meanwhile
        (True, "desk", 2, False),
        (True, "other", 4, False),
    ],
)
def test_what_a_run_goes_on_with(paused, graph, step, goes_on, monkeypatch):
    pauses.stopped("t", "desk", 3, ROOT, paused=paused)
    stop = pauses.take_stop("t")
    assert stop.comes_before(graph, step) is goes_on
    monkeypatch.setattr(pauses, "_KEPT", -1)
    assert not stop.comes_before(graph, step)


def test_a_stop_is_that_of_the_last_run_and_is_asked_for_once():
    pauses.stopped("t", "desk", 3, ROOT, paused=False)
    pauses.stopped("t", "desk", 5, ROOT, paused=False)
    assert pauses.take_stop("t").step == 5
    assert pauses.take_stop("t") is None
    pauses.stopped("t", "desk", 3, ROOT, paused=False)
    pauses.stopped("t", "chain", None, ROOT, paused=False)  # a question that is no graph's
    assert pauses.take_stop("t") is None
    assert pauses.take_stop(None) is None


def test_a_pause_is_kept_until_its_answer_or_for_a_day(monkeypatch):
    for task in ("a", "b", None):
        pauses.remember("t", task, ROOT, ROOT, ())
    pauses.remember(None, "c", ROOT, ROOT, ())
    assert pauses.find("t", "a") is pauses.find("t", "a") is not None
    assert pauses.find("other", "a") is pauses.find(None, "a") is pauses.find("t", None) is None
    pauses.forget("t", "a")
    assert pauses.find("t", "a") is None
    assert pauses.find("t", "b") is not None
    monkeypatch.setattr(pauses, "_KEPT", -1)
    assert pauses.find("t", "b") is None
    assert not pauses._pauses


def test_of_too_many_the_oldest_are_forgotten(monkeypatch):
    monkeypatch.setattr(pauses, "_LIMIT", 3)
    for number in range(5):
        pauses.remember("t", f"{number}", ROOT, ROOT, ())
        pauses.stopped(f"{number}", "desk", 1, ROOT, paused=False)
    assert [task for _, task in pauses._pauses] == list(pauses._stops) == ["2", "3", "4"]
