"""What another call was given did not fall; what no call was given did (issue B: what the answer rested on)."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from langchain_core.runnables import RunnableLambda

from rag_probe import attributes as a
from rag_probe.policy import CapturePolicy
from rag_probe.wire.context import put_dropped
from rag_probe_langchain import shares

from .apps import ANSWER, Scripted, Search, passages
from .recorded import Recorder, assert_well_formed

QUESTION = "How long do I have?"
NAMES = ("returns", "sale", "gift")


def told_of(recorder):
    calls = [dict(span.attributes) for span in sorted(recorder.named("chat"), key=lambda span: span.start_time)]
    return [(call.get(a.CONTEXT_IDS), call.get(a.CONTEXT_DROPPED)) for call in calls]


def asking(recorder, *groups, answers=None):
    """One call after the other, each given the passages at some places."""
    model = Scripted(answers=answers or [f"{ANSWER} So it is said in {number}." for number in range(len(groups))])

    def ask(found):
        said = ""
        for group in groups:
            said = model.invoke("\n".join([found[place].page_content for place in group])).content
        return said

    chain = Search(found=passages(*NAMES)) | RunnableLambda(ask).with_config(run_name="ask")
    return chain.with_config(run_name="desk").invoke(QUESTION, recorder.config)


@pytest.mark.parametrize(
    ("groups", "fell"),
    [
        ([(0,), (1,), (2,)], [None, None, None]),
        ([(0, 1), (2,)], [None, None]),
        ([(0,), (1,)], [("gift",), ("gift",)]),
        ([(0,)], [("sale", "gift")]),
        ([(0,), (0,), (1,)], [("gift",)] * 3),  # asked twice, as a retry does
        ([(0, 1, 2), (0, 1), (0,)], [None, ("gift",), ("sale", "gift")]),  # a talk that is trimmed
    ],
)
def test_what_another_call_was_given_did_not_fall(groups, fell):
    recorder = Recorder()
    asking(recorder, *groups)
    assert told_of(recorder) == [
        (tuple(NAMES[place] for place in group), lost) for group, lost in zip(groups, fell, strict=True)
    ]
    assert_well_formed(recorder.spans)


def test_what_a_question_that_failed_never_came_to_did_not_fall():
    recorder = Recorder()
    with pytest.raises(TimeoutError):
        asking(recorder, (0,), (1,), answers=[ANSWER, TimeoutError()])
    assert told_of(recorder) == [(("returns",), None), (("sale",), None)]
    assert_well_formed(recorder.spans)


def test_a_call_that_lacks_a_passage_waits_however_long_its_question_takes(monkeypatch):
    monkeypatch.setattr("rag_probe_langchain.spans.PATIENCE", -1)
    recorder = Recorder()
    asking(recorder, (0,), (1,), (2,))
    assert told_of(recorder) == [(("returns",), None), (("sale",), None), (("gift",), None)]
    assert_well_formed(recorder.spans)


def test_of_a_call_too_many_nothing_is_said_to_have_fallen(monkeypatch):
    monkeypatch.setattr(shares, "_SHARES", 1)
    recorder = Recorder()
    asking(recorder, (0,), (0,))
    assert told_of(recorder) == [(("returns",), ("sale", "gift")), (("returns",), None)]
    assert_well_formed(recorder.spans)


def settled(*calls):
    """What fell, and why, of calls given as (the last known set, what they saw, why the others fell)."""
    options = SimpleNamespace(policy=CapturePolicy())
    runs = [SimpleNamespace(final={}, request=SimpleNamespace(options=options)) for _ in calls]
    request = SimpleNamespace(shares=[], pending=[])
    for run, (last, own, reasons) in zip(runs, calls, strict=True):
        dropped = tuple(name for name in last if name not in own)
        put_dropped(run.final, dropped, reasons, None)
        request.shares.append(shares.Share(run, tuple(last), frozenset(own), dropped, reasons))
    shares.settle_shares(request, failed=False)
    assert request.pending == runs
    return [(run.final.get(a.CONTEXT_DROPPED), run.final.get(a.CONTEXT_DROPPED_REASONS)) for run in runs]


def test_why_is_said_of_those_that_fell_alone():
    told, silent = settled(("abc", "a", ("budget", "stale")), ("abc", "b", ()))
    assert told == settled(("ac", "a", ("stale",)))[0]
    assert silent == (("c",), None)


def test_what_a_call_of_another_set_was_given_may_have_fallen_here():
    assert settled(("ab", "a", ()), ("bc", "b", ())) == [(("b",), None), (("c",), None)]
