"""`tell`: what only the app knows reaches the run, else the current span, else nobody; and never raises."""

from __future__ import annotations

from types import SimpleNamespace
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_probe import tell
from rag_probe.current import Told
from rag_probe.policy import CapturePolicy
from rag_probe.stages import Answer, Budget, Citations, Identity, Verdicts
from rag_probe.wire import decode_root
from rag_probe.wire.context import decode_budget


class Cited(NamedTuple):
    id: str
    marker: str
    start: int
    end: int
    valid: bool


def test_everything_reaches_the_run(run):
    tell.outcome("abstained")
    tell.confidence(0.75)
    tell.budget(limit=620, tokenizer="words")
    tell.citations(["a"])
    tell.identity(subject="alice", tenant="acme", roles=["admin"])
    tell.identity(Identity(tenant="globex"))
    tell.identity({"tenant": "initech"})
    tell.verdict(False, "a draft")
    tell.verdict(True)
    assert run.told == [
        Told(outcome="abstained"),
        Told(confidence=0.75),
        Told(budget=Budget(limit=620, tokenizer="words")),
        Told(citations=Citations(ids=("a",))),
        Told(identity=Identity(subject="alice", tenant="acme", roles=("admin",))),
        Told(identity=Identity(tenant="globex")),
        Told(identity=Identity(tenant="initech")),
        Told(verdicts=Verdicts(passed=(False,), lengths=(7,), digests=(None,))),
        Told(verdicts=Verdicts(passed=(True,), lengths=(None,), digests=(None,))),
    ]


def test_without_a_run_it_is_said_on_the_current_span(tracer, exporter):
    with tracer.start_as_current_span("around"):
        tell.outcome("partial")
        tell.confidence(1)
        tell.budget(limit=620, used=410)
        tell.citations([("a", "[1]", 8, 11)])
        tell.identity(tenant="acme")
    (span,) = exporter.get_finished_spans()
    root = decode_root(span.attributes)
    assert root.answer == Answer(
        outcome="partial",
        confidence=1.0,
        citations=Citations(ids=("a",), markers=("[1]",), starts=(8,), ends=(11,)),
    )
    assert root.identity == Identity(tenant="acme")
    assert decode_budget(span.attributes) == Budget(limit=620, used=410)


def test_each_verdict_is_kept_on_the_current_span(tracer, exporter, monkeypatch):
    """By the rules of the answer's digest; the draft itself never leaves."""
    monkeypatch.setenv("RAG_PROBE_DIGEST_KEY", "key")
    with tracer.start_as_current_span("around"):
        tell.verdict(False, "a secret draft")
        tell.verdict(True, SimpleNamespace(text="another secret"))
        tell.verdict(True)
    (span,) = exporter.get_finished_spans()
    digest = CapturePolicy(digest_key=b"key").digest
    assert decode_root(span.attributes).verdicts == Verdicts(
        passed=(False, True, True),
        lengths=(14, 14, None),
        digests=(digest("a secret draft"), digest("another secret"), None),
    )
    assert "secret" not in str(dict(span.attributes))


def test_with_neither_nothing_happens(caplog):
    tell.outcome("answered")
    assert not caplog.records


def test_citations_in_every_form(run):
    tell.citations(
        [
            "a",
            ("b",),
            ("c", "[3]"),
            ["d", "[4]", 1, 4],
            Cited("e", "[5]", 5, 8, False),
            {"id": "f", "marker": "[6]", "valid": True},
            SimpleNamespace(id="g", start=9, end=12),
            SimpleNamespace(metadata={"doc_id": 8}),
        ]
    )
    assert run.told == [
        Told(
            citations=Citations(
                ids=("a", "b", "c", "d", "e", "f", "g", "8"),
                markers=(None, None, "[3]", "[4]", "[5]", "[6]", None, None),
                starts=(None, None, None, 1, 5, None, 9, None),
                ends=(None, None, None, 4, 8, None, 12, None),
                valid=(None, None, None, None, False, True, None, None),
            )
        )
    ]


def test_no_citations_is_a_fact(run):
    tell.citations([])
    assert run.told == [Told(citations=Citations())]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda: tell.outcome("great"),
            "tell.outcome: expected one of answered, partial, clarification, abstained, err",
        ),
        (lambda: tell.outcome(["answered"]), "tell.outcome: expected one of"),
        (lambda: tell.confidence(float("nan")), "tell.confidence: expected a finite number, found a float"),
        (lambda: tell.confidence("0.7"), "tell.confidence: expected a finite number, found a str"),
        (lambda: tell.budget(limit=-1), "tell.budget: limit and used are whole numbers from 0"),
        (lambda: tell.citations([None]), "tell.citations: a NoneType without an id is left out"),
        (lambda: tell.citations(7), "tell.citations failed with TypeError"),
        (lambda: tell.identity("alice"), "tell.identity: expected an Identity or a mapping, found str"),
        (lambda: tell.verdict("yes", "a draft"), "tell.verdict: expected True or False, found a str"),
        (lambda: tell.identity(roles=7), "tell.identity.roles: expected a list of texts, found int"),
    ],
)
def test_what_cannot_be_right_is_left_out_and_said_once(run, caplog, call, said):
    call()
    call()
    assert all(told in (Told(), Told(citations=Citations())) for told in run.told)
    assert [record.getMessage()[: len(said)] for record in caplog.records] == [said]


def test_a_draft_that_is_no_text_costs_the_draft_only(run, caplog):
    tell.verdict(True, 7)
    assert run.told == [Told(verdicts=Verdicts(passed=(True,), lengths=(None,), digests=(None,)))]
    assert [record.getMessage() for record in caplog.records] == ["tell.verdict: a draft is a text; int is left out"]


def test_a_fault_of_an_integration_does_not_reach_the_app(broken_run, caplog):
    tell.outcome("answered")
    tell.outcome("answered")
    assert [record.getMessage().split(" at ")[0] for record in caplog.records] == ["tell failed with RuntimeError"]


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3) | st.binary(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=5,
)


@given(anything)
def test_nothing_makes_it_raise(value):
    tell.outcome(value)
    tell.confidence(value)
    tell.budget(limit=value, used=value, tokenizer=value)
    tell.citations(value)
    tell.citations([value])
    tell.identity(value)
    tell.identity(subject=value, tenant=value, roles=value)
    tell.verdict(value, value)
    tell.verdict(True, value)
