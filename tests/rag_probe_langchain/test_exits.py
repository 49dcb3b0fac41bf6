"""Every way in which a run can end, or not end, leaves each span ended once and nothing open."""

from __future__ import annotations

import asyncio
import gc
import time
from contextlib import suppress
from uuid import UUID, uuid4

import pytest
import uuid_utils
from langchain_core.callbacks import AsyncCallbackManager, BaseCallbackHandler
from langchain_core.runnables import RunnableGenerator, RunnableLambda, RunnablePassthrough
from langchain_core.tools import StructuredTool
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF
from opentelemetry.trace import StatusCode

from rag_probe import attributes as a
from rag_probe.policy import CapturePolicy
from rag_probe_langchain import runs, watching
from rag_probe_langchain.finish import give_up

from .apps import ANSWER, Scripted, Search, allowed, as_text, passages, rag
from .recorded import Recorder, assert_nothing_open, assert_well_formed

QUESTION = "How long do I have?"


def raising(error):
    def fail(found):
        raise error

    return fail


BROKEN = {
    "retrieval": lambda error: rag(Search(found=[], error=error)),
    "rag.permission": lambda error: rag(
        steps=RunnableLambda(raising(error)).with_config(run_name="check", metadata={"rag.stage": "permission"})
    ),
    "chat": lambda error: rag(model=Scripted(answers=[error])),
}


@pytest.mark.parametrize("stage", BROKEN)
@pytest.mark.parametrize("streamed", [False, True])
def test_an_error_in_a_stage_stands_on_its_span_and_on_the_root(stage, streamed):
    recorder = Recorder()
    chain = BROKEN[stage](ConnectionError("secret host"))
    with pytest.raises(ConnectionError):
        list(chain.stream(QUESTION, recorder.config)) if streamed else chain.invoke(QUESTION, recorder.config)
    for name in (stage, "invoke_workflow"):
        (span,) = recorder.named(name)
        assert span.attributes[a.ERROR_TYPE] == "ConnectionError"
        assert span.status.status_code is StatusCode.ERROR
        assert span.status.description is None
    assert recorder.one("invoke_workflow")[a.ANSWER_OUTCOME] == "error"
    assert_well_formed(recorder.spans)


class UnspeakableError(Exception):
    def __str__(self):
        raise KeyError("secret")


@pytest.mark.parametrize("stage", BROKEN)
@pytest.mark.parametrize("content", [False, True])
def test_an_error_that_cannot_say_itself_loses_no_span(stage, content, caplog):
    recorder = Recorder(policy=CapturePolicy(content=content))
    with pytest.raises(UnspeakableError):
        BROKEN[stage](UnspeakableError()).invoke(QUESTION, recorder.config)
    for name in (stage, "invoke_workflow"):
        assert recorder.one(name)[a.ERROR_TYPE].endswith("UnspeakableError")
    assert not caplog.records
    assert_well_formed(recorder.spans)


def test_an_error_in_a_plain_step_stands_on_the_root():
    recorder = Recorder()
    with pytest.raises(ValueError, match="bad"):
        rag(steps=RunnableLambda(raising(ValueError("bad")))).invoke(QUESTION, recorder.config)
    assert recorder.names() == ['invoke_workflow returns desk | status="ERROR"', "  retrieval"]
    assert_well_formed(recorder.spans)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(1)])
def test_a_retriever_whose_end_never_comes_ends_with_its_root(error):
    recorder = Recorder()
    with pytest.raises(type(error)):
        BROKEN["retrieval"](error).invoke(QUESTION, recorder.config)
    assert recorder.one("retrieval")[a.PARTIAL] is True
    assert recorder.one("invoke_workflow")[a.ERROR_TYPE] == type(error).__name__
    assert_well_formed(recorder.spans)


async def test_a_cancelled_question_ends_as_one():
    recorder = Recorder()
    asked = asyncio.Event()

    async def wait(found):
        asked.set()
        await asyncio.Event().wait()

    task = asyncio.create_task(rag(steps=RunnableLambda(wait)).ainvoke(QUESTION, recorder.config))
    await asyncio.wait_for(asked.wait(), 100)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert recorder.one("invoke_workflow")[a.ERROR_TYPE].endswith("CancelledError")
    assert recorder.names()[1:] == ["  retrieval"]
    assert_well_formed(recorder.spans)


class Waiting:
    """Calls of LangChain that wait, each alone, and the moment when they do."""

    def __init__(self):
        self.reached = asyncio.Event()
        self.at_once = lambda: None

    async def wait(self, *args, **kwargs):
        self.reached.set()
        self.at_once()
        await asyncio.Event().wait()

    def made(self, kind):
        waiting = self

        class Slow(Scripted):
            async def _agenerate(self, *args, **kwargs):
                await waiting.wait()

        class Searching(Search):
            async def _aget_relevant_documents(self, query, *, run_manager):
                await waiting.wait()

        match kind:
            case "chain":
                return rag(steps=RunnableLambda(self.wait))
            case "model":
                return Slow(answers=[])
            case "retriever":
                return Searching(found=[])
            case _:
                return StructuredTool.from_function(coroutine=self.wait, name="look", description="Look.")


def asked_of(kind):
    return {} if kind == "tool" else QUESTION


async def ended():
    async with asyncio.timeout(100):
        while runs.OPEN:
            gc.collect()
            for _ in range(100):
                await asyncio.sleep(0)


async def begun(waiting, kind, recorder):
    """A call that waits in its model, search or tool."""
    task = asyncio.create_task(waiting.made(kind).ainvoke(asked_of(kind), recorder.config))
    await asyncio.wait_for(waiting.reached.wait(), 100)
    return task


@pytest.mark.parametrize("kind", ["chain", "model", "retriever", "tool"])
async def test_what_is_cancelled_ends_with_its_task_whatever_it_is(kind):
    """Alone, searches, models and tools tell no end when they are cancelled: nobody may wait for it for an hour."""
    recorder = Recorder()
    task = await begun(Waiting(), kind, recorder)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await ended()
    (root,) = [span for span in recorder.spans if span.parent is None]
    assert root.attributes[a.ERROR_TYPE] == "asyncio.exceptions.CancelledError"
    assert_well_formed(recorder.spans)


@pytest.mark.parametrize("kind", ["model", "retriever"])
async def test_what_a_timeout_ended_ends_with_the_task_that_went_on(kind):
    recorder, waiting = Recorder(), Waiting()

    async def answer():
        with suppress(TimeoutError):
            async with asyncio.timeout(None) as limit:
                waiting.at_once = lambda: limit.reschedule(0)
                await waiting.made(kind).ainvoke(QUESTION, recorder.config)
        return "Sorry."

    assert await asyncio.create_task(answer()) == "Sorry."
    await ended()
    (root,) = recorder.spans
    assert root.attributes[a.PARTIAL] is True
    assert a.ERROR_TYPE not in root.attributes


@pytest.mark.parametrize("kind", ["chain", "model", "retriever", "tool"])
async def test_what_a_timeout_ended_ends_while_its_task_goes_on(kind):
    """A worker's task asks one question after the other, for days."""
    recorder, waiting = Recorder(), Waiting()
    with suppress(TimeoutError):
        async with asyncio.timeout(None) as limit:
            waiting.at_once = lambda: limit.reschedule(0)
            await waiting.made(kind).ainvoke(asked_of(kind), recorder.config)
    await ended()
    assert_well_formed(recorder.spans)


@pytest.mark.parametrize("turns", range(8))
async def test_a_batch_that_is_cancelled_at_once_ends_all_its_questions(turns):
    recorder, waiting = Recorder(), Waiting()
    task = asyncio.create_task(waiting.made("chain").abatch([QUESTION, QUESTION], recorder.config))
    for _ in range(turns):
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await ended()
    assert len(recorder.spans) in (0, 2)
    assert_well_formed(recorder.spans)


@pytest.mark.parametrize("kind", ["model", "retriever", "tool", "chain"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_loop_that_was_closed_meanwhile_leaves_its_questions_to_the_next_one(kind):
    """LangChain's own frames cannot even raise then, as Python says of each of them."""
    recorder = Recorder()

    loop = asyncio.new_event_loop()
    task = loop.run_until_complete(begun(Waiting(), kind, recorder))
    loop.close()
    del task
    gc.collect()
    Search(found=passages("gift")).invoke(QUESTION, recorder.config)
    assert len([span for span in recorder.spans if span.parent is None]) == 2
    assert_well_formed(recorder.spans)


@pytest.mark.parametrize("kind", ["chain", "model", "retriever", "tool"])
def test_what_a_loop_cancels_when_it_ends_does_not_stay_open(kind):
    """`asyncio.run` gives its last tasks a few turns only; a view of Flask or a task of Celery has one loop each."""
    recorder = Recorder()

    async def ask():
        return not (await begun(Waiting(), kind, recorder)).done()

    assert asyncio.run(ask())
    left = time.time_ns()
    Search(found=passages("gift")).invoke(QUESTION, recorder.config)
    first, *_, last = sorted(recorder.spans, key=lambda span: span.start_time)
    assert first.attributes[a.ERROR_TYPE].endswith("CancelledError")
    assert first.end_time <= left <= last.end_time
    assert_well_formed(recorder.spans)


@pytest.mark.parametrize("error", [KeyboardInterrupt, GeneratorExit])
def test_a_search_that_was_interrupted_ends_with_the_next_question(error):
    """Of all else LangChain tells the end; a notebook, or a worker of gevent, goes on."""
    recorder = Recorder()
    with pytest.raises(error):
        Search(found=[], error=error()).invoke(QUESTION, recorder.config)
    gc.collect()
    left = time.time_ns()
    Search(found=passages("gift")).invoke(QUESTION, recorder.config)
    first, last = recorder.named("retrieval")
    assert [span.attributes.get(a.PARTIAL) for span in (first, last)] == [True, None]
    assert first.end_time <= left
    assert_well_formed(recorder.spans)


@pytest.mark.parametrize("start", ["on_chain_start", "on_retriever_start"])
async def test_runs_that_are_told_with_a_new_id_object_each_time_are_not_taken_for_left(start):
    """By a bridge that reads them from somewhere: nobody holds its ids."""
    recorder, key = Recorder(), uuid4().int
    getattr(recorder.handler, start)(None, "q", run_id=UUID(int=key), name="bridged")
    for _ in range(100):
        await asyncio.sleep(0)
    await asyncio.to_thread(rag().invoke, QUESTION, recorder.config)
    assert key in runs.OPEN
    recorder.handler.on_chain_end("a", run_id=UUID(int=key))
    assert not [span for span in recorder.spans if a.PARTIAL in span.attributes]
    assert_well_formed(recorder.spans)


@pytest.mark.parametrize("asked", ["sync", "async"])
@pytest.mark.parametrize("app", [rag, lambda: Scripted(answers=[])], ids=["chain", "model"])
def test_what_another_handler_refused_to_start_ends_with_a_later_question(app, asked, monkeypatch):
    """As a guard does that raises: LangChain tells no end of what it refused."""

    class Guard(BaseCallbackHandler):
        raise_error = run_inline = True

        def on_chain_start(self, *args, **kwargs):
            raise PermissionError

        on_chat_model_start = on_chain_start

    recorder = Recorder()
    config = {"callbacks": [recorder.handler, Guard()]}
    with pytest.raises(PermissionError):
        app().invoke(QUESTION, config) if asked == "sync" else asyncio.run(app().ainvoke(QUESTION, config))
    gc.collect()
    Search(found=passages("sale")).invoke(QUESTION, recorder.config)  # a bridge may still tell its end
    monkeypatch.setattr(watching, "_SILENCE", -1)
    Search(found=passages("gift")).invoke(QUESTION, recorder.config)
    roots = [span.attributes.get(a.PARTIAL) for span in recorder.spans if span.parent is None]
    assert (roots.count(None), roots.count(True)) == (2, 1)
    assert_well_formed(recorder.spans)


@pytest.mark.parametrize("asynchronous", [False, True])
def test_an_id_that_takes_no_weak_reference_is_one_all_the_same(asynchronous, caplog):
    """As callers have them who make theirs with `uuid_utils`, which LangChain itself rests on."""
    recorder = Recorder()
    config = {**recorder.config, "run_id": uuid_utils.uuid7()}
    if asynchronous:
        asyncio.run(rag().ainvoke(QUESTION, config))
    else:
        rag().invoke(QUESTION, config)
    assert not caplog.records
    assert len(recorder.spans) == 6
    assert_nothing_open()
    assert_well_formed(recorder.spans)


def test_sync_questions_within_a_task_leave_nothing_in_the_loop():
    async def ask():
        loop = asyncio.get_running_loop()
        before = len(loop._ready)
        for _ in range(3):
            Search(found=passages("gift")).invoke(QUESTION, recorder.config)
        return [handle for handle in list(loop._ready)[before:] if not handle.cancelled()]

    recorder = Recorder()
    assert asyncio.run(ask()) == []


@pytest.mark.parametrize("app", ["chain", "model"])
@pytest.mark.parametrize("many", [1, 2])
async def test_events_that_nobody_reads_on_end_the_question(app, many):
    recorder = Recorder()
    chain = rag() if app == "chain" else Scripted(answers=[ANSWER])
    events = chain.astream_events(QUESTION, recorder.config, version="v2")
    for _ in range(many):
        await anext(events)
    await events.aclose()
    del events
    await ended()
    assert len([span for span in recorder.spans if span.parent is None]) == 1
    assert_well_formed(recorder.spans)


async def test_a_stream_that_changes_tasks_goes_on():
    """As `asyncio.wait_for(anext(…))` has it before Python 3.12."""
    recorder = Recorder()
    parts, said = rag().astream(QUESTION, recorder.config), ""
    while True:
        try:
            said += await asyncio.create_task(anext(parts))
        except StopAsyncIteration:
            break
        for _ in range(50):
            await asyncio.sleep(0)
    assert said == ANSWER
    assert a.PARTIAL not in recorder.one("invoke_workflow")
    assert_well_formed(recorder.spans)


async def test_a_stream_whose_first_reader_was_cancelled_goes_on_with_another():
    """Cancelled while it did other things: the stream itself heard nothing of it."""
    recorder, first = Recorder(), asyncio.Event()
    stream = rag().astream(QUESTION, recorder.config)

    async def read_one():
        await anext(stream)
        first.set()
        await asyncio.Event().wait()

    reader = asyncio.create_task(read_one())
    await asyncio.wait_for(first.wait(), 100)
    reader.cancel()
    for _ in range(100):
        await asyncio.sleep(0)
    assert runs.OPEN
    assert [piece async for piece in stream]
    assert recorder.one("invoke_workflow")[a.ANSWER_OUTCOME] == "answered"
    assert_nothing_open()
    assert_well_formed(recorder.spans)


async def test_a_search_that_another_task_ends_goes_on_until_then():
    """By hand, as an own pipeline tells of it."""
    recorder = Recorder()
    manager = AsyncCallbackManager(handlers=[recorder.handler])
    search = await asyncio.create_task(manager.on_retriever_start({}, QUESTION))
    for _ in range(100):
        await asyncio.sleep(0)
    await search.on_retriever_end(passages("gift"))
    assert recorder.one("retrieval")[a.RETRIEVAL_COUNT] == 1
    assert_well_formed(recorder.spans)


async def test_cancelled_questions_that_nobody_records_are_forgotten():
    """Neither of those that ended is anything kept, when the next one begins."""
    for _ in range(3):
        recorder = Recorder(sampler=ALWAYS_OFF)
        task = await begun(Waiting(), "model", recorder)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await ended()
        await rag().ainvoke(QUESTION, recorder.config)
        assert not watching._left


async def test_a_task_of_many_questions_remembers_none():
    recorder = Recorder()
    for _ in range(3):
        await rag().ainvoke(QUESTION, recorder.config)
    left = [one for one, _ in asyncio.current_task()._callbacks or () if getattr(one, "__name__", "") == "_over"]
    assert left == []


async def test_a_call_in_a_chain_that_was_given_up_for_another_ended_then_and_the_answer_is_whole():
    """As a node does that waits some time for one chain, and then asks another one."""
    recorder, waiting = Recorder(), Waiting()
    slow = RunnablePassthrough() | waiting.made("model")

    async def answer(found):
        with suppress(TimeoutError):
            async with asyncio.timeout(None) as limit:
                waiting.at_once = lambda: limit.reschedule(0)
                return await slow.ainvoke(as_text(found))
        return await Scripted(answers=[ANSWER]).ainvoke(as_text(found))

    app = Search(found=passages("returns", "gift")) | RunnableLambda(answer)
    assert (await app.ainvoke(QUESTION, recorder.config)).content == ANSWER
    first, second = sorted(recorder.named("chat"), key=lambda span: span.start_time)
    assert first.end_time < second.start_time
    assert first.attributes[a.CONTEXT_IDS] == second.attributes[a.CONTEXT_IDS]
    (root,) = [span for span in recorder.spans if span.parent is None]
    assert a.PARTIAL not in root.attributes
    assert root.attributes[a.ANSWER_OUTCOME] == "answered"
    assert first.attributes[a.PARTIAL] is True
    assert_well_formed(recorder.spans)


async def test_a_cancelled_model_call_ends_with_its_root_and_keeps_its_context():
    asked = asyncio.Event()

    class Slow(Scripted):
        async def _agenerate(self, *args, **kwargs):
            asked.set()
            await asyncio.Event().wait()

    recorder = Recorder()
    task = asyncio.create_task(rag(model=Slow(answers=[])).ainvoke(QUESTION, recorder.config))
    await asyncio.wait_for(asked.wait(), 100)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    call = recorder.one("chat")
    assert call[a.CONTEXT_IDS] == ("returns", "sale", "gift")
    assert_well_formed(recorder.spans)


@pytest.mark.parametrize("left", ["closed", "collected"])
def test_a_stream_that_is_abandoned_ends_once(left):
    recorder = Recorder()
    parts = rag().stream(QUESTION, recorder.config)
    next(parts)
    if left == "closed":
        parts.close()
    else:
        del parts
        gc.collect()
    assert [span.name.split(" ")[0] for span in recorder.spans].count("invoke_workflow") == 1
    assert recorder.one("invoke_workflow")[a.PARTIAL] is True
    assert recorder.one("chat")[a.PARTIAL] is True
    assert_well_formed(recorder.spans)


async def test_an_asynchronous_stream_that_is_abandoned_ends_once():
    recorder = Recorder()
    parts = rag().astream(QUESTION, recorder.config)
    await anext(parts)
    await parts.aclose()
    async with asyncio.timeout(100):  # LangChain leaves its inner generators to the event loop
        while runs.OPEN:
            gc.collect()
            for _ in range(100):
                await asyncio.sleep(0)
    assert recorder.one("invoke_workflow")[a.PARTIAL] is True
    assert_well_formed(recorder.spans)


def test_children_of_a_fallback_stay_in_their_question():
    recorder = Recorder()
    model = Scripted(answers=[TimeoutError()]).with_fallbacks([Scripted(answers=[ANSWER])])
    assert rag(model=model).invoke(QUESTION, recorder.config) == ANSWER
    assert recorder.names() == [
        "invoke_workflow returns desk",
        "  retrieval",
        "  rag.filter not_old",
        "  rag.permission allowed",
        "  rag.context as_text",
        '  chat scripted-1 | status="ERROR"',
        "  chat scripted-1",
    ]
    assert_well_formed(recorder.spans)


def test_callbacks_given_again_inside_a_step_stay_in_their_question():
    recorder = Recorder()
    inner = rag()
    chain = RunnableLambda(lambda question: inner.invoke(question, recorder.config)).with_config(run_name="outer")
    assert chain.invoke(QUESTION, recorder.config) == ANSWER
    assert recorder.names()[:2] == ["invoke_workflow outer", "  retrieval"]


def test_each_attempt_of_a_retry_is_a_span():
    recorder = Recorder()
    model = Scripted(answers=[TimeoutError(), ANSWER]).with_retry(stop_after_attempt=2, wait_exponential_jitter=False)
    assert rag(model=model).invoke(QUESTION, recorder.config) == ANSWER
    assert [span.status.is_unset for span in recorder.named("chat")] == [False, True]
    assert_well_formed(recorder.spans)


def test_what_starts_after_its_question_ended_is_nobodys():
    recorder = Recorder()
    parts = rag().stream(QUESTION, recorder.config)
    next(parts)
    root = next(iter(runs._roots.values()))
    open_run = next(run for run in root.request.runs.values() if run is not root)
    parts.close()
    known = len(recorder.spans)
    details = {"run_id": uuid4(), "parent_run_id": UUID(int=open_run.key), "name": "late"}
    recorder.handler.on_chain_start(None, {}, **details)
    recorder.handler.on_retriever_start(None, "q", run_id=uuid4(), parent_run_id=details["run_id"], name="late")
    assert len(recorder.spans) == known
    assert_nothing_open()


def test_a_failed_gather_leaves_no_orphans():
    recorder = Recorder()
    started, over = asyncio.Event(), asyncio.Event()

    async def slow(question):
        started.set()
        await over.wait()
        return await Search(found=passages("gift")).ainvoke(question)

    async def bad(question):
        await started.wait()
        raise ValueError("bad")

    async def ask():
        with pytest.raises(ValueError, match="bad"):
            await RunnableLambda(lambda q: q).pipe({"slow": slow, "bad": bad}).ainvoke(QUESTION, recorder.config)
        left = asyncio.all_tasks() - {asyncio.current_task()}
        over.set()
        await asyncio.wait(left, timeout=100)

    asyncio.run(ask())
    assert recorder.names() == ['invoke_workflow RunnableSequence | status="ERROR"']
    assert_well_formed(recorder.spans)


def test_a_generator_in_the_chain_streams_through():
    recorder = Recorder()

    def shout(parts):
        for part in parts:
            yield part.upper()

    chain = rag() | RunnableGenerator(shout)
    assert "".join(chain.stream(QUESTION, recorder.config)) == ANSWER.upper()
    assert recorder.one("invoke_workflow")[a.ANSWER_LENGTH] == len(ANSWER)
    assert_well_formed(recorder.spans)


def test_parallel_branches_have_their_own_stages():
    recorder = Recorder()
    gifts = Search(found=passages("gift", "old")) | allowed | as_text
    sales = Search(found=passages("sale", "staff")) | allowed | as_text
    ({"gifts": gifts, "sales": sales} | RunnableLambda(lambda both: both["gifts"] + both["sales"])).invoke(
        QUESTION, recorder.config
    )
    assert len(recorder.named("retrieval")) == 2
    (only,) = recorder.named("rag.filter")
    assert only.attributes[a.FILTER_DROPPED] == ("staff",)
    assert_well_formed(recorder.spans)


def test_giving_up_what_has_ended_leaves_a_later_question_of_that_id_alone():
    """An app may name its runs itself, and try again under the same name."""
    recorder, key = Recorder(), uuid4()
    recorder.handler.on_chain_start({}, "?", run_id=key, name="desk")
    first = runs.OPEN[key.int]
    recorder.handler.on_chain_end("a", run_id=key)
    recorder.handler.on_chain_start({}, "?", run_id=key, name="desk")
    give_up(first)
    recorder.handler.on_chain_end("a", run_id=key)
    assert [span.attributes.get(a.PARTIAL) for span in recorder.spans] == [None, None]
