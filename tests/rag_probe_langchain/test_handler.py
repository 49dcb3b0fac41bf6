"""A callback added to an existing chain, and the whole tree of spans that comes of it (checklist 168, 171, 173)."""

from __future__ import annotations

import asyncio
import threading

import pytest
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableLambda
from opentelemetry import trace
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF

from rag_probe import attributes as a
from rag_probe.cases import case
from rag_probe.stages import Chunks, Content, Identity, PermissionCheck, Retrieval
from rag_probe.wire import decode, decode_root
from rag_probe_langchain import runs

from .apps import ANSWER, Scripted, Search, passages, rag
from .recorded import Recorder, assert_nothing_open, assert_well_formed

QUESTION = "How long do I have?"
TREE = [
    'invoke_workflow returns desk | gen_ai.agent.name="returns desk" gen_ai.operation.name="invoke_workflow"'
    ' rag.answer.length=42 rag.answer.outcome="answered" rag.citation.ends=[41] rag.citation.ids=["sale"]'
    ' rag.citation.markers=["[2]"] rag.citation.starts=[38] rag.citation.valid=[true]'
    ' rag.inferred=["answer.outcome"] rag.question.length=19',
    '  retrieval | gen_ai.operation.name="retrieval" rag.retrieval.count=5'
    ' rag.retrieval.documents=["returns.md", "sale.md", "gift.md", "staff.md", "old.md"]'
    ' rag.retrieval.ids=["returns", "sale", "gift", "staff", "old"] rag.retrieval.query.length=19'
    ' rag.retrieval.revisions=["2", "2", "2", "2", "2"] rag.retrieval.scores=[1.0, 0.9, 0.8, 0.7, 0.6]'
    ' rag.retrieval.tenants=["store", "store", "store", "store", "store"] rag.stage="retrieval" rag.step.name="Search"',
    '  rag.filter not_old | rag.filter.dropped=["old"] rag.filter.kept=["returns", "sale", "gift", "staff"]'
    ' rag.stage="filter" rag.step.name="not_old"',
    '  rag.permission allowed | rag.permission.decisions=["allow", "allow", "allow", "deny"]'
    ' rag.permission.ids=["returns", "sale", "gift", "staff"] rag.stage="permission" rag.step.name="allowed"',
    '  rag.context as_text | rag.context.ids=["returns", "sale", "gift"] rag.stage="context" rag.step.name="as_text"',
    '  chat scripted-1 | gen_ai.operation.name="chat" gen_ai.provider.name="openai"'
    ' gen_ai.request.model="scripted-1" gen_ai.response.finish_reasons=["stop"]'
    ' gen_ai.response.model="scripted-1-0101" gen_ai.usage.input_tokens=70 gen_ai.usage.output_tokens=9'
    ' rag.context.budget.tokenizer="estimate:chars/4" rag.context.budget.used=53'
    ' rag.context.ids=["returns", "sale", "gift"] rag.context.tokens=[20, 18, 15]'
    " rag.context.truncated=[false, false, false] rag.generation.cache_hit=false rag.output.length=42"
    ' rag.prompt.length=248 rag.stage="generation"',
]


def invoke(chain, config):
    return chain.invoke(QUESTION, config)


def stream(chain, config):
    return "".join(chain.stream(QUESTION, config))


def batch(chain, config):
    return chain.batch([QUESTION], config)[0]


def ainvoke(chain, config):
    return asyncio.run(chain.ainvoke(QUESTION, config))


def abatch(chain, config):
    return asyncio.run(chain.abatch([QUESTION], config))[0]


def astream(chain, config):
    async def collect():
        return "".join([part async for part in chain.astream(QUESTION, config)])

    return asyncio.run(collect())


def astream_events(chain, config):
    async def collect():
        events = [event async for event in chain.astream_events(QUESTION, config, version="v2")]
        return events[-1]["data"]["output"]

    return asyncio.run(collect())


@pytest.mark.parametrize("call", [invoke, stream, batch, ainvoke, abatch, astream, astream_events])
def test_every_way_of_calling_gives_the_same_tree(call):
    recorder = Recorder()
    assert call(rag(), recorder.config) == ANSWER
    assert recorder.lines() == TREE
    assert_well_formed(recorder.spans)


def test_attributes_decode_to_the_stages():
    recorder = Recorder()
    rag().invoke(QUESTION, recorder.config)
    retrieval = decode(recorder.one("retrieval"))
    assert isinstance(retrieval, Retrieval)
    assert retrieval.query == Content(length=19)
    assert retrieval.documents == Chunks(
        ids=("returns", "sale", "gift", "staff", "old"),
        scores=(1.0, 0.9, 0.8, 0.7, 0.6),
        documents=("returns.md", "sale.md", "gift.md", "staff.md", "old.md"),
        revisions=("2",) * 5,
        tenants=("store",) * 5,
    )
    assert isinstance(decode(recorder.one("rag.permission")), PermissionCheck)


def test_a_batch_gives_a_path_for_each_question():
    recorder = Recorder()
    rag().batch([QUESTION, "And gifts?", "And staff?"], recorder.config)
    roots = recorder.named("invoke_workflow")
    assert len({root.context.trace_id for root in roots}) == 3
    assert {root.attributes[a.QUESTION_LENGTH] for root in roots} == {19, 10}
    assert all(
        len([span for span in recorder.spans if span.context.trace_id == root.context.trace_id]) == 6 for root in roots
    )
    assert_well_formed(recorder.spans)


def test_two_questions_at_once_in_threads_do_not_mix():
    recorder = Recorder()
    both = threading.Barrier(2)

    def meet(found):
        both.wait(100)
        return found

    def ask(name):
        chain = rag(Search(found=passages(name)), steps=RunnableLambda(meet))
        chain.invoke(name, recorder.config)

    threads = [threading.Thread(target=ask, args=(name,)) for name in ("gift", "sale")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(100)
    for root in recorder.named("invoke_workflow"):
        mine = [span for span in recorder.spans if span.context.trace_id == root.context.trace_id]
        found = {
            span.attributes[name]
            for span in mine
            for name in (a.RETRIEVAL_IDS, a.CONTEXT_IDS)
            if name in span.attributes
        }
        assert len(found) == 1
    assert_well_formed(recorder.spans)


def test_the_root_joins_the_ambient_span():
    recorder = Recorder()
    with recorder.provider.get_tracer("app").start_as_current_span("POST /ask") as around:
        rag().invoke(QUESTION, recorder.config)
        assert trace.get_current_span() is around
    assert recorder.names()[:2] == ["POST /ask", "  invoke_workflow returns desk"]


def test_what_is_not_sampled_leaves_nothing():
    recorder = Recorder(sampler=ALWAYS_OFF)
    assert rag().invoke(QUESTION, recorder.config) == ANSWER
    assert recorder.spans == ()
    assert_nothing_open()


def test_without_a_provider_the_app_works_on():
    from rag_probe_langchain import RagProbeCallbackHandler

    assert rag().invoke(QUESTION, {"callbacks": [RagProbeCallbackHandler()]}) == ANSWER
    assert_nothing_open()


def test_a_second_handler_adds_nothing():
    recorder, other = Recorder(), Recorder()
    rag().invoke(QUESTION, {"callbacks": [recorder.handler, other.handler]})
    assert recorder.lines() == TREE
    assert other.spans == ()


def test_a_retriever_alone_is_a_path_of_its_own():
    recorder = Recorder()
    Search(found=passages("gift")).invoke(QUESTION, recorder.config)
    assert recorder.lines("rag.question", "rag.retrieval.ids") == [
        'retrieval | rag.question.length=19 rag.retrieval.ids=["gift"]'
    ]
    assert_nothing_open()


def test_a_model_alone_is_a_path_of_its_own():
    recorder = Recorder()
    Scripted(answers=["Hello."]).invoke([HumanMessage(QUESTION)], recorder.config)
    assert recorder.lines("rag.question", "rag.answer") == [
        'chat scripted-1 | rag.answer.length=6 rag.answer.outcome="answered" rag.question.length=19'
    ]


def test_case_tags_and_identity_stand_on_the_root():
    recorder = Recorder()
    with case(
        "c-1", experiment="e-1", repetition=2, corpus_version="v3", identity={"tenant": "acme", "roles": ["lead"]}
    ):
        rag().invoke(QUESTION, recorder.config)
    root = decode_root(recorder.one("invoke_workflow"))
    assert (root.tags.case_id, root.tags.experiment, root.tags.repetition, root.tags.corpus_version) == (
        "c-1",
        "e-1",
        2,
        "v3",
    )
    assert root.tags.case_run
    assert root.identity == Identity(tenant="acme", roles=("lead",))


def test_identity_may_come_from_the_input():
    recorder = Recorder(identity=lambda inputs, metadata: Identity(subject=metadata["user"]))
    rag().invoke(QUESTION, {**recorder.config, "metadata": {"user": "kim"}})
    assert recorder.one("invoke_workflow")[a.USER_ID] == "kim"


def test_a_hook_of_the_app_that_raises_harms_nothing(caplog):
    def broken(*_):
        raise ValueError("secret")

    recorder = Recorder(outcome=broken, identity=broken)
    assert rag().invoke(QUESTION, recorder.config) == ANSWER
    assert recorder.one("invoke_workflow")[a.ANSWER_OUTCOME] == "answered"
    assert "secret" not in caplog.text


def test_a_hook_that_returns_something_else_is_not_believed(caplog):
    recorder = Recorder(outcome=lambda _: "secret", identity=lambda *_: "secret")
    assert rag().invoke(QUESTION, recorder.config) == ANSWER
    root = recorder.one("invoke_workflow")
    assert root[a.ANSWER_OUTCOME] == "answered"
    assert not any("secret" in str(span.attributes) for span in recorder.spans)
    assert "secret" not in caplog.text


def test_the_same_handler_serves_many_requests_and_costs_no_state():
    recorder = Recorder()
    late = len(runs._late)
    for _ in range(20):
        rag().invoke(QUESTION, recorder.config)
    assert len(recorder.spans) == 20 * len(TREE)
    assert_nothing_open()
    assert len(runs._late) == late
