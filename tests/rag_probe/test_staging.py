"""`stage`: what the app says becomes a stage of the run around it, else a span; the app never notices."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry import trace
from opentelemetry.trace import StatusCode

from rag_probe import current, stage
from rag_probe.current import Told
from rag_probe.policy import CapturePolicy
from rag_probe.recorders import ContextRecorder, FilterRecorder, PermissionRecorder, RerankRecorder
from rag_probe.stages import Budget, ContextAssembly, Filtering, PermissionCheck, Rerank
from rag_probe.wire import decode
from rag_probe.wire.context import decode_budget

ON = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"


def passage(name, **metadata):
    return SimpleNamespace(id=name, metadata=metadata)


def only(exporter):
    (span,) = exporter.get_finished_spans()
    return span


def test_a_permission_check(run):
    with stage("permission", "acl", policy="v7") as s:
        s.allow("a")
        s.deny(passage("b"), "foreign_tenant")
        s.deny({"metadata": {"doc_id": 3}})
    expected = PermissionCheck(
        step="acl",
        ids=("a", "b", "3"),
        decisions=("allow", "deny", "deny"),
        reasons=(None, "foreign_tenant", None),
        policy="v7",
    )
    assert run.recorded == [(expected, None)]


def test_a_filter(run):
    with stage("filter") as s:
        s.keep("a", passage("b"))
        s.keep("c")
        s.drop("d", "superseded")
        s.drop("e")
    assert run.recorded == [(Filtering(kept=("a", "b", "c"), dropped=("d", "e"), reasons=("superseded", None)), None)]


def test_a_rerank(run):
    with stage("rerank", "cross") as s:
        s.rank("b", 0.75)
        s.rank("a")
        s.rank("c", float("nan"))
    assert run.recorded == [(Rerank(step="cross", ids=("b", "a", "c"), scores=(0.75, None, None)), None)]


def test_a_context(run):
    with stage("context", limit=620, tokenizer="o200k_base") as s:
        s.add("a", tokens=40)
        s.add("b", tokens=20, truncated=True, kept=[(0, 80), (90, 120)])
        s.drop("c", "budget")
    expected = ContextAssembly(
        ids=("a", "b"),
        tokens=(40, 20),
        truncated=(None, True),
        kept=((), ((0, 80), (90, 120))),
        dropped=("c",),
        dropped_reasons=("budget",),
        budget=Budget(limit=620, used=60, tokenizer="o200k_base"),
    )
    assert run.recorded == [(expected, None)]


def test_tokens_of_some_are_no_sum(run):
    with stage("context") as s:
        s.add("a", tokens=40)
        s.add("b")
    assert run.recorded[0][0].budget is None


def test_nothing_kept_is_a_fact_and_nothing_said_is_not(run):
    with stage("filter") as s:
        s.keep()
    with stage("filter"):
        pass
    assert run.recorded == [(Filtering(), None)]


def test_a_limit_without_passages_is_told(run):
    with stage("context", limit=620):
        pass
    assert run.recorded == []
    assert [told.budget for told in run.told] == [Budget(limit=620)]


def test_sentences_leave_as_the_run_s_policy_says(run):
    """contracts 3: free-text reasons stay in with content off."""
    for policy in (CapturePolicy(), CapturePolicy(content=True)):
        run.policy = policy
        with stage("permission") as s:
            s.deny("a", "Alice is not in finance")
    assert [recorded.reasons for recorded, _ in run.recorded] == [(), ("Alice is not in finance",)]


def test_without_a_run_it_is_a_span_under_the_current_one(tracer, exporter):
    with tracer.start_as_current_span("around") as around, stage("permission", "acl", policy="v7") as s:
        s.deny("a", "foreign_tenant")
    span = exporter.get_finished_spans()[0]
    assert (span.name, span.parent.span_id) == ("rag.permission acl", around.get_span_context().span_id)
    assert (span.kind, span.status.status_code) == (trace.SpanKind.INTERNAL, StatusCode.UNSET)
    assert around.start_time <= span.start_time <= span.end_time <= around.end_time
    assert decode(span.attributes) == PermissionCheck(
        step="acl", ids=("a",), decisions=("deny",), reasons=("foreign_tenant",), policy="v7"
    )


@pytest.mark.parametrize(("content", "left"), [("false", ()), ("true", ("it is old",))])
def test_a_span_s_sentences_leave_as_the_environment_says(tracer, exporter, monkeypatch, content, left):
    monkeypatch.setenv(ON, content)
    with stage("filter") as s:
        s.drop("a", "it is old")
    assert decode(only(exporter).attributes).reasons == left


def test_a_span_with_nothing_said_has_its_time_and_limit_but_no_list(tracer, exporter):
    with stage("context", "pack", limit=620):
        pass
    span = only(exporter)
    assert span.name == "rag.context pack"
    assert decode(span.attributes) is None
    assert decode_budget(span.attributes) == Budget(limit=620)


def test_a_span_without_a_step_is_named_by_its_kind(tracer, exporter):
    with stage("rerank") as s:
        s.rank("a")
    assert only(exporter).name == "rag.rerank"


def keep_and_fail():
    with stage("filter", "f") as s:
        s.keep("a")
        raise KeyError("secret")


def test_an_exception_passes_and_leaves_its_type(tracer, exporter):
    with pytest.raises(KeyError, match="secret"):
        keep_and_fail()
    span = only(exporter)
    assert span.attributes["error.type"] == "KeyError"
    assert (span.status.status_code, span.status.description, span.events) == (StatusCode.ERROR, None, ())
    assert decode(span.attributes) == Filtering(step="f", kept=("a",))


def test_an_exception_is_told_to_a_run_by_its_type(run):
    with pytest.raises(KeyError):
        keep_and_fail()
    assert run.recorded == [(Filtering(step="f", kept=("a",)), "KeyError")]


def test_one_that_raises_before_anything_is_said_is_told_to_a_run_too(run):
    with pytest.raises(TypeError), stage("context", "pack", limit=620) as s:
        s.add()
    assert run.told == [Told(budget=Budget(limit=620))]
    assert run.recorded == [("context", "pack", "TypeError")]


def test_what_a_framework_raises_to_steer_is_no_error(run, monkeypatch):
    """GraphInterrupt: a stage around a question to somebody did not fail."""
    monkeypatch.setattr(current, "_steering", [lambda error: isinstance(error, KeyError)])
    with pytest.raises(KeyError):
        keep_and_fail()
    assert run.recorded == [(Filtering(step="f", kept=("a",)), None)]


async def test_async_with_and_cancellation(tracer, exporter):
    """must-handle 16: exactly one span on every exit path."""

    async def wait():
        async with stage("filter", "slow") as s:
            s.keep("a")
            await asyncio.Event().wait()

    task = asyncio.create_task(wait())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert only(exporter).attributes["error.type"] == "asyncio.exceptions.CancelledError"


def test_a_fault_of_an_integration_does_not_reach_the_app(broken_run, tracer, exporter, caplog):
    for _ in range(2):
        with stage("filter") as s:
            s.keep("a")
    assert [record.getMessage().split(" at ")[0] for record in caplog.records] == [
        "current run failed with RuntimeError"
    ]
    assert len(exporter.get_finished_spans()) == 2


def test_a_fault_while_recording_does_not_reach_the_app(run, caplog):
    run.record = None
    with stage("filter") as s:
        s.keep("a")
    assert [record.getMessage().split(" at ")[0] for record in caplog.records] == ["stage failed with TypeError"]


class Odd:
    """Whatever an app passes by mistake."""

    @property
    def id(self):
        raise RuntimeError


odd = st.sampled_from([None, 1.5, b"x", object(), Odd(), (), {"id": None}, True])


@given(odd, odd)
def test_no_value_makes_a_recorder_raise(item, other):
    permission, filtering = PermissionRecorder(None, other), FilterRecorder(None)
    permission.allow(item, other)
    permission.deny(item, other)
    filtering.keep(item, other)
    filtering.drop(item, other)
    rerank, context = RerankRecorder(other), ContextRecorder(None, other, other)
    rerank.rank(item, other)
    context.add(item, other, other, other)
    context.add("a", other, other, [other, (0, other), (3, 1)])
    context.drop(item, other)
    stages = [recorder.stage() for recorder in (permission, filtering, rerank, context)]
    assert [stage.ids for stage in (stages[0], stages[2])] == [(), ()]
    assert stages[3].ids == ("a",)
    assert stages[3].kept == ()


def test_an_item_without_an_id_is_said_once(run, caplog):
    with stage("filter") as s:
        s.keep(None)
        s.keep(object())
    assert [record.getMessage() for record in caplog.records] == [
        "stage('filter'): a NoneType has no id: it is left out"
    ]


def test_an_unknown_kind_is_a_wrong_call():
    with pytest.raises(ValueError, match="expected permission, filter, rerank or context, found 'permision'"):
        stage("permision")


A, B, C = passage("a"), passage("b"), passage("c")


def test_a_decorated_permission_check(run):
    @stage("permission", policy="v7")
    def permitted(passages, roles):
        return passages[:1]

    assert permitted([A, B], ["admin"]) == [A]
    assert run.recorded == [
        (PermissionCheck(step="permitted", ids=("a", "b"), decisions=("allow", "deny"), policy="v7"), None)
    ]


def test_a_filter_that_only_drops_does_not_say_that_nothing_passed(run):
    with stage("filter") as s:
        s.drop("d", "stale")
    with stage("filter") as s:
        s.keep()
        s.drop("d")
    assert run.recorded == [
        (Filtering(kept=None, dropped=("d",), reasons=("stale",)), None),
        (Filtering(kept=(), dropped=("d",)), None),
    ]


def test_a_decorated_filter_of_a_graph_s_state(run):
    @stage("filter", "freshness")
    def fresh(state):
        return {"passages": state["passages"][1:], "count": 2}

    fresh({"question": "q", "history": ["a", "b", "c"], "passages": [A, B, C]})
    assert run.recorded == [(Filtering(step="freshness", kept=("b", "c"), dropped=("a",)), None)]


async def test_a_decorated_rerank_coroutine(run):
    @stage("rerank")
    async def best_first(passages):
        await asyncio.sleep(0)
        return list(reversed(passages))

    assert await best_first([A, B]) == [B, A]
    assert run.recorded == [(Rerank(step="best_first", ids=("b", "a")), None)]


def test_a_decorated_context_builder(run):
    @stage("context", limit=10)
    def pack(passages):
        return passages[:1]

    @stage("context")
    def text(passages):
        return "\n".join(each.id for each in passages)

    pack([A, B])
    assert text([A]) == "a"
    assert run.recorded == [(ContextAssembly(step="pack", ids=("a",), dropped=("b",), budget=Budget(limit=10)), None)]


def test_passages_without_an_id_that_go_on_are_not_nothing(run):
    with stage("filter", step="fresh") as s:
        s.keep(Odd())
        s.drop("a")
    assert run.recorded == [(Filtering(step="fresh", kept=None, dropped=("a",)), None)]


def test_a_decorated_filter_that_keeps_nothing(run):
    @stage("filter")
    def none(passages):
        return []

    none([A])
    none([])
    assert run.recorded == [(Filtering(step="none", dropped=("a",)), None), (Filtering(step="none"), None)]


def test_a_decorated_function_whose_argument_is_odd(run):
    @stage("filter")
    def same(passages):
        return passages

    assert same([Odd()])
    assert run.recorded == []


def test_a_decorated_function_that_fails(run):
    @stage("filter")
    def broken(passages):
        raise KeyError

    with pytest.raises(KeyError):
        broken([A])
    assert run.recorded == [("filter", "broken", "KeyError")]
