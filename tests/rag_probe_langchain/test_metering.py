"""issue B, Metrics: what was measured is what the spans say, once, by the conventions' names and in few series."""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor

import pytest
from langchain_core.caches import InMemoryCache
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool
from opentelemetry import metrics as api
from opentelemetry.metrics import NoOpMeterProvider
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ParentBased, TraceIdRatioBased

from rag_probe import attributes as a
from rag_probe import instruments as i
from rag_probe import metering, stage, tell
from rag_probe.policy import CapturePolicy
from tests.measured import Metrics

from .apps import PROMPT, Nested, Scripted, Search, as_text, passages, rag
from .recorded import Recorder, assert_nothing_open

CALL = (
    (a.OPERATION, "chat"),
    (a.PROVIDER, "openai"),
    (a.REQUEST_MODEL, "scripted-1"),
    (a.RESPONSE_MODEL, "scripted-1-0101"),
)
TOKENS = tuple(sorted((*CALL, (i.MODALITY, "unknown"))))
WORKFLOW = ((a.AGENT_NAME, "returns desk"), (a.OPERATION, "invoke_workflow"))


@pytest.fixture
def metrics(monkeypatch):
    monkeypatch.setattr(metering, "_seen", {})
    return Metrics()


def recorder(metrics, **options):
    return Recorder(meter_provider=metrics.provider, **options)


def test_a_chain_in_the_conventions_names(metrics):
    """genai-semconv.md"""
    rag().invoke("How long do I have?", recorder(metrics).config)
    assert metrics.counts() == {
        "gen_ai.invoke_agent.duration": {WORKFLOW: 1},
        "gen_ai.retrieval.duration": {((a.OPERATION, "retrieval"),): 1},
        "gen_ai.client.inference.duration": {CALL: 1},
        "gen_ai.client.inference.usage.input_tokens": {TOKENS: 70},
        "gen_ai.client.inference.usage.output_tokens": {TOKENS: 9},
        "rag.chunks.retrieved": {(): 5},
        "rag.chunks.dropped": {((a.STAGE, "filter"),): 1, ((a.STAGE, "permission"),): 1},
        "rag.permission.denials": {(): 1},
        "rag.context.tokens": {((i.TOKENIZER, "estimate:chars/4"),): 53},
        "rag.citations": {((i.VALID, True),): 1},
        "rag.answers": {((a.AGENT_NAME, "returns desk"), (a.ANSWER_OUTCOME, "answered")): 1},
    }


def test_durations_are_those_of_the_spans_in_the_buckets_advised(metrics):
    recorded = recorder(metrics)
    rag().invoke("How long do I have?", recorded.config)
    for name, span in {
        i.AGENT_DURATION: "invoke_workflow",
        i.RETRIEVAL_DURATION: "retrieval",
        i.INFERENCE_DURATION: "chat",
    }.items():
        (point,) = metrics.points()[name.name]
        (one,) = recorded.named(span)
        assert point.sum == pytest.approx((one.end_time - one.start_time) / 1e9)
        assert point.explicit_bounds == name.buckets


def test_a_figure_leads_to_its_trace(metrics):
    recorded = recorder(metrics)
    rag().invoke("How long do I have?", recorded.config)
    spans = {span.context.span_id: span.name for span in recorded.spans}
    points = metrics.points()
    for instrument, span in {i.INFERENCE_DURATION: "chat scripted-1", i.DENIALS: "rag.permission allowed"}.items():
        (point,) = points[instrument.name]
        assert [spans[one.span_id] for one in point.exemplars] == [span]


def test_every_metric_is_described(metrics):
    """docs/conventions.md is made from `INSTRUMENTS`: a label that it does not list is a label too many."""
    everything(metrics)
    described = {each.name: set(each.attributes) for each in i.INSTRUMENTS}
    for name, points in metrics.points().items():
        for point in points:
            assert set(point.attributes) <= described[name], name
    assert set(metrics.points()) == set(described)


def everything(metrics):
    """A question for every instrument."""
    message = AIMessage(
        "Thirty days [1] [9].",
        usage_metadata={
            "input_tokens": 70,
            "output_tokens": 9,
            "total_tokens": 79,
            "input_token_details": {"cache_read": 20, "cache_creation": 10},
            "output_token_details": {"reasoning": 4},
        },
    )

    @tool
    def look(query: str) -> str:
        """Look it up."""
        return query

    def narrow(found):
        look.invoke({"query": "x"})
        with stage("permission", policy="v7") as s:
            for each in found:
                (s.deny(each, "foreign_tenant") if each.id == "staff" else s.allow(each))
        tell.budget(limit=5)
        return [each for each in found if each.id != "staff"]

    def cut(found):
        return as_text(found)[:-20]

    chain = {"context": Search(found=passages()) | narrow | cut, "question": RunnableLambda(str)} | PROMPT
    chain = chain | GenericFakeChatModel(messages=iter([message]))
    chain.invoke("How long do I have?", recorder(metrics).config)


def test_what_the_app_told_is_counted_by_reason_and_policy(metrics):
    everything(metrics)
    counts = metrics.counts()
    assert counts["rag.permission.denials"] == {((a.PERMISSION_POLICY, "v7"), (i.REASON, "foreign_tenant")): 1}
    assert counts["rag.chunks.dropped"] == {((i.REASON, "foreign_tenant"), (a.STAGE, "permission")): 1}
    assert counts["rag.context.truncations"] == {(): 1}
    assert counts["rag.context.budget.exceeded"] == {((i.TOKENIZER, "estimate:chars/4"),): 1}
    assert counts["rag.citations"] == {((i.VALID, True),): 1, ((i.VALID, False),): 1}
    assert counts["gen_ai.execute_tool.duration"] == {((a.OPERATION, "execute_tool"), (a.TOOL_NAME, "look")): 1}
    assert metrics.total("gen_ai.client.inference.usage.cache_read.input_tokens") == 20
    assert metrics.total("gen_ai.client.inference.usage.cache_write.input_tokens") == 10
    assert metrics.total("gen_ai.client.inference.usage.reasoning.output_tokens") == 4


def test_a_sentence_is_no_label_with_content_on_either(metrics):
    def judge(found):
        with stage("filter") as s:
            s.keep(*found[:1])
            s.drop(found[1], "because the customer said so")
            s.drop(found[2], "old")
        return found[:1]

    on = recorder(metrics, policy=CapturePolicy(content=True))
    (Search(found=passages()) | judge).invoke("?", on.config)
    assert metrics.counts()["rag.chunks.dropped"] == {
        ((i.REASON, "_OTHER"), (a.STAGE, "filter")): 1,
        ((i.REASON, "old"), (a.STAGE, "filter")): 1,
    }


def test_chunks_of_retrievals_inside_another_count_once(metrics):
    """must-handle 19; each took its time all the same."""
    nested = Nested(inner=Search(found=passages()), k=2)
    nested.invoke("?", recorder(metrics).config)
    assert metrics.total("rag.chunks.retrieved") == 2
    assert metrics.total("gen_ai.retrieval.duration") == 2


def test_a_cache_hit_costs_no_tokens_and_is_no_call(metrics):
    """must-handle 12"""
    recorded = recorder(metrics)
    model = Scripted(answers=["Thirty days."], cache=InMemoryCache())
    for _ in range(3):
        model.invoke("How long?", recorded.config)
    assert [span.attributes[a.GENERATION_CACHE_HIT] for span in recorded.named("chat")] == [False, True, True]
    assert metrics.total("gen_ai.client.inference.usage.input_tokens") == 70
    assert metrics.total("gen_ai.client.inference.duration") == 1


def test_unknown_usage_counts_nothing(metrics):
    """must-handle 12: unknown is not zero."""
    GenericFakeChatModel(messages=iter([AIMessage("Thirty days.")])).invoke("How long?", recorder(metrics).config)
    assert metrics.total("gen_ai.client.inference.duration") == 1
    assert not [name for name in metrics.points() if "usage" in name]


def test_usage_of_an_agent_is_that_of_its_calls(metrics):
    """must-handle 11"""
    from langchain.agents import create_agent

    call = AIMessage("", tool_calls=[{"name": "look", "args": {"query": "x"}, "id": "1"}])

    @tool
    def look(query: str) -> str:
        """Look it up."""
        return "thirty days"

    class Calling(Scripted):
        def bind_tools(self, tools, **kwargs):
            return self

        def _generate(self, messages, stop=None, run_manager=None, **kwargs):
            result = super()._generate(messages, stop, run_manager, **kwargs)
            if self.turn == 1:
                result.generations[0].message.tool_calls = call.tool_calls
            return result

    agent = create_agent(Calling(answers=["", "Thirty days."]), [look], name="desk")
    agent.invoke({"messages": [("human", "How long?")]}, recorder(metrics).config)
    assert metrics.total("gen_ai.client.inference.usage.input_tokens") == 140
    assert metrics.counts()["gen_ai.invoke_agent.duration"] == {
        ((a.AGENT_NAME, "desk"), (a.OPERATION, "invoke_agent")): 1
    }
    assert metrics.counts()["gen_ai.execute_tool.duration"] == {
        ((a.OPERATION, "execute_tool"), (a.TOOL_NAME, "look")): 1
    }


@pytest.mark.parametrize("mode", ["invoke", "ainvoke", "stream", "astream", "batch", "threads"])
def test_each_calling_mode_measures_the_same(metrics, mode):
    config = recorder(metrics).config
    chain = rag()

    async def drain():
        return [part async for part in chain.astream("How long do I have?", config)]

    match mode:
        case "invoke":
            chain.invoke("How long do I have?", config)
        case "ainvoke":
            asyncio.run(chain.ainvoke("How long do I have?", config))
        case "stream":
            list(chain.stream("How long do I have?", config))
        case "astream":
            asyncio.run(drain())
        case "batch":
            chain.batch(["How long do I have?"] * 3, config)
        case "threads":
            with ThreadPoolExecutor(4) as pool:
                list(pool.map(lambda _: chain.invoke("How long do I have?", config), range(8)))
    times = {"batch": 3, "threads": 8}.get(mode, 1)
    totals = {name: metrics.total(name) for name in metrics.points()}
    assert totals == {
        "gen_ai.invoke_agent.duration": times,
        "gen_ai.retrieval.duration": times,
        "gen_ai.client.inference.duration": times,
        "gen_ai.client.inference.usage.input_tokens": 70 * times,
        "gen_ai.client.inference.usage.output_tokens": 9 * times,
        "rag.chunks.retrieved": 5 * times,
        "rag.chunks.dropped": 2 * times,
        "rag.permission.denials": times,
        "rag.context.tokens": 53 * times,
        "rag.citations": times,
        "rag.answers": times,
    }


def test_a_failure_carries_its_type(metrics):
    with pytest.raises(ConnectionError):
        rag(Search(found=[], error=ConnectionError("secret"))).invoke("?", recorder(metrics).config)
    failed = (a.ERROR_TYPE, "ConnectionError")
    assert metrics.counts() == {
        "gen_ai.retrieval.duration": {(failed, (a.OPERATION, "retrieval")): 1},
        "gen_ai.invoke_agent.duration": {tuple(sorted((failed, *WORKFLOW))): 1},
        "rag.answers": {((a.AGENT_NAME, "returns desk"), (a.ANSWER_OUTCOME, "error")): 1},
    }


def test_what_was_ended_from_outside_took_nobody_knows_how_long(metrics):
    config = recorder(metrics).config

    async def cancelled():
        async def hang(_):
            await asyncio.Event().wait()

        model = Scripted(answers=["x"]) | RunnableLambda(hang)
        task = asyncio.create_task(model.ainvoke("?", config))
        for _ in range(50):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert_nothing_open()
    assert metrics.total("gen_ai.invoke_agent.duration") == 1  # it ended by an error of its own


@pytest.mark.parametrize("sampler", [ALWAYS_OFF, ParentBased(TraceIdRatioBased(0))])
def test_a_question_that_is_not_sampled_is_measured_and_not_traced(metrics, sampler):
    recorded = recorder(metrics, sampler=sampler)
    for _ in range(3):
        rag().invoke("How long do I have?", recorded.config)
    assert recorded.spans == ()
    assert_nothing_open()
    assert metrics.total("rag.answers") == 3
    assert metrics.total("rag.permission.denials") == 3
    assert metrics.total("gen_ai.client.inference.usage.input_tokens") == 210


def test_a_graph_that_is_not_sampled_and_pauses(metrics):
    from tests.rag_probe_langgraph.graphs import checked

    recorded = recorder(metrics, sampler=ALWAYS_OFF)
    checked().invoke({"question": "How long do I have?"}, recorded.config)
    assert recorded.spans == ()
    assert metrics.total("gen_ai.client.inference.duration") == 2
    assert_nothing_open()


def test_nothing_is_measured_while_nobody_listens(metrics):
    assert metering.meter_of(None, "x") is None  # the process has none
    assert metering.meter_of(NoOpMeterProvider(), "x") is None
    recorded = Recorder(meter_provider=NoOpMeterProvider(), sampler=ALWAYS_OFF)
    rag().invoke("?", recorded.config)
    assert recorded.spans == ()


def test_the_process_s_provider_is_found_when_a_question_starts(metrics, monkeypatch):
    recorded = Recorder()
    rag().invoke("?", recorded.config)
    monkeypatch.setattr(api, "get_meter_provider", lambda: metrics.provider)
    rag().invoke("?", recorded.config)
    assert metrics.total("rag.answers") == 1


def test_a_broken_provider_harms_nothing(metrics, caplog):
    class Broken(MeterProvider):
        def get_meter(self, *args, **kwargs):
            raise RuntimeError("theirs")

    recorded = Recorder(meter_provider=Broken(shutdown_on_exit=False))
    with caplog.at_level(logging.CRITICAL):
        rag().invoke("?", recorded.config)
    assert recorded.one("invoke_workflow")


def test_series_are_bounded_whatever_an_app_names_its_steps(metrics):
    recorded = recorder(metrics)
    for number in range(metering.LIMIT + 20):
        RunnableLambda(str).invoke("?", {**recorded.config, "run_name": f"question {number} \ud800"})
    labels = [dict(each)[a.AGENT_NAME] for each in metrics.counts()["gen_ai.invoke_agent.duration"]]
    assert len(labels) == metering.LIMIT + 1
    assert "_OTHER" in labels


def test_no_label_holds_an_id_or_a_person(metrics):
    from rag_probe import case
    from rag_probe.stages import Identity

    with case("case-4711", experiment="experiment-4711", identity=Identity(subject="subject-4711", tenant="acme-4711")):
        rag(Search(found=passages())).invoke(
            "question-4711", {**recorder(metrics).config, "configurable": {"thread_id": "thread-4711"}}
        )
    said = str(metrics.counts())
    assert "4711" not in said
    assert not [name for name in ("returns.md", "'store'") if name in said]
