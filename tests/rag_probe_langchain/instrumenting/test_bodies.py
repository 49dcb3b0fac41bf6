"""Issue B, design.md "Instrumentation": bodies run inside a real current span, which never outlives them."""

from __future__ import annotations

import asyncio
import gc
import logging
import sqlite3
import threading

import pytest
from langchain_core.language_models import LLM
from langchain_core.runnables import RunnableLambda, RunnableParallel
from opentelemetry import baggage, context, propagate, trace
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ParentBased, TraceIdRatioBased

from rag_probe import attributes as a
from rag_probe import case
from rag_probe_langchain import runs
from rag_probe_langchain.finish import give_up
from tests.rag_probe_langchain.apps import ANSWER, Nested, Scripted, Search, passages, rag
from tests.rag_probe_langchain.recorded import assert_nothing_open, assert_well_formed
from tests.scenarios.modes import MODES

from .instrumented import WorkingModel, WorkingSearch, instrumented, nothing_current, spans_of, working, working_tool

QUESTION = "How long do I have?"
TREE = [
    "invoke_workflow returns desk",
    "  retrieval",
    "    in the retriever",
    "  rag.filter recent",
    "  in a step",
    "  rag.permission permitted",
    "    in a marked step",
    "  rag.context as_text",
    "  chat scripted-1",
    "    in the model",
]


def tree(recorder, *left_out):
    return [line for line in recorder.names() if line.strip() not in left_out]


@pytest.fixture(autouse=True)
def nothing_is_said(caplog):
    """No fault of ours, and no "Failed to detach context" (must-handle 2)."""
    yield
    assert not caplog.records


@pytest.mark.parametrize("mode", MODES.values(), ids=MODES)
def test_what_is_recorded_in_a_body_hangs_under_its_step(mode):
    with instrumented() as recorder, nothing_current():
        mode(working(spans_of(recorder.provider.get_tracer("db"))), QUESTION, {})
    assert tree(recorder, "in the model, streaming") == TREE
    assert_well_formed(recorder.spans)


@pytest.mark.parametrize("mode", ["stream", "astream", "astream_events"])
def test_of_a_stream_every_item_is_made_inside_its_span(mode):
    with instrumented() as recorder:
        MODES[mode](working(spans_of(recorder.provider.get_tracer("db"))), QUESTION, {})
    assert len(recorder.named("in the model, streaming")) == len(ANSWER.split(" "))
    (model,) = recorder.named("chat")
    assert {span.parent.span_id for span in recorder.named("in the model, streaming")} == {model.context.span_id}


@pytest.mark.parametrize("mode", ["invoke", "ainvoke", "batch", "abatch"])
def test_a_tool_is_current_and_the_retriever_that_it_asks_inside_it(mode):
    with instrumented() as recorder, nothing_current():
        MODES[mode](working_tool(spans_of(recorder.provider.get_tracer("db"))), {"query": QUESTION}, {})
    assert tree(recorder) == ["execute_tool look_up", "  in the tool", "  retrieval", "    in the retriever"]


class Completing(LLM):
    """A completion model that works in its body."""

    work: object

    @property
    def _llm_type(self):
        return "completing"

    def _call(self, prompt, stop=None, run_manager=None, **kwargs):
        self.work("in the model")
        return "Thirty days."

    def _stream(self, prompt, stop=None, run_manager=None, **kwargs):
        from langchain_core.outputs import GenerationChunk

        for word in ("Thirty ", "days."):
            self.work("in the model")
            yield GenerationChunk(text=word)


@pytest.mark.parametrize("mode", MODES.values(), ids=MODES)
def test_completion_models_are_current_too(mode):
    with instrumented() as recorder, nothing_current():
        mode(Completing(work=spans_of(recorder.provider.get_tracer("db"))), QUESTION, {})
    (model,) = recorder.named("text_completion")
    assert {span.parent.span_id for span in recorder.named("in the model")} == {model.context.span_id}


def test_one_body_of_several_calls_is_nobodys():
    with instrumented() as recorder, nothing_current():
        model = Completing(work=spans_of(recorder.provider.get_tracer("db")))
        (RunnableLambda(lambda asked: model.generate([asked, asked])) | str).invoke(QUESTION)
    (root,) = recorder.named("invoke_workflow")
    assert {span.parent.span_id for span in recorder.named("in the model")} == {root.context.span_id}


def test_calls_of_one_batch_have_each_their_span():
    with instrumented() as recorder, nothing_current():
        model = WorkingModel(answers=[ANSWER], work=spans_of(recorder.provider.get_tracer("db")))
        model.generate([_messages("a"), _messages("b")])
    assert tree(recorder) == ["chat scripted-1", "  in the model"] * 2


def _messages(text):
    from langchain_core.messages import HumanMessage

    return [HumanMessage(text)]


def test_side_by_side_in_a_pool_of_threads():
    with instrumented() as recorder, nothing_current():
        work = spans_of(recorder.provider.get_tracer("db"))
        searches = {name: WorkingSearch(found=passages(name), work=work) for name in ("gift", "sale", "staff")}
        RunnableParallel(**searches).batch([QUESTION] * 5)
    by_id = {span.context.span_id: span for span in recorder.spans}
    inside = recorder.named("in the retriever")
    assert len(inside) == 15
    assert {by_id[span.parent.span_id].name for span in inside} == {"retrieval"}
    assert len({span.parent.span_id for span in inside}) == 15
    assert_well_formed(recorder.spans)


def test_in_a_thread_without_context():
    """What LangChain is told by hand, it is told; the ambient span is found again."""
    found = []

    def hand_over(asked, config):
        thread = threading.Thread(target=lambda: found.append(steps.invoke(asked, config)))
        thread.start()
        thread.join()
        return asked

    with instrumented() as recorder, nothing_current():
        work = spans_of(recorder.provider.get_tracer("db"))
        steps = RunnableLambda(lambda asked: work("in a step") or asked) | WorkingSearch(found=passages(), work=work)
        RunnableLambda(hand_over).invoke(QUESTION)
    assert tree(recorder) == ["invoke_workflow hand_over", "  in a step", "  retrieval", "    in the retriever"]
    assert len(found[0]) == 5


def test_between_two_items_the_consumer_has_its_own_span():
    with instrumented() as recorder:
        tracer = recorder.provider.get_tracer("app")
        stream = working(spans_of(tracer)).stream(QUESTION)
        for _ in range(3):
            with tracer.start_as_current_span("consumer") as mine:
                next(stream)
                assert trace.get_current_span() is mine
        assert list(stream)
        assert not trace.get_current_span().get_span_context().is_valid
    assert all(span.parent is None for span in recorder.named("consumer"))


async def test_items_may_be_asked_for_by_different_tasks():
    with instrumented() as recorder, nothing_current():
        model = WorkingModel(answers=[ANSWER], work=spans_of(recorder.provider.get_tracer("db")))
        stream = model.astream(QUESTION)
        texts = []
        while (item := await asyncio.create_task(anext(stream, None))) is not None:
            texts.append(item)
    assert "".join(each.text for each in texts) == ANSWER
    (model_span,) = recorder.named("chat")
    assert {span.parent.span_id for span in recorder.named("in the model, streaming")} == {model_span.context.span_id}


def test_a_span_that_a_streaming_body_holds_open_holds_what_it_makes_later():
    class Holding(Scripted):
        def _stream(self, messages, *args, **kwargs):
            with tracer.start_as_current_span("connection"):
                for each in super()._stream(messages):
                    with tracer.start_as_current_span("packet"):
                        pass
                    yield each

    with instrumented() as recorder, nothing_current():
        tracer = recorder.provider.get_tracer("db")
        assert len(list(Holding(answers=["One two"]).stream(QUESTION))) >= 2
    assert recorder.names() == ["chat scripted-1", "  connection", "    packet", "    packet"]


def test_a_span_of_the_app_stays_between_ours_and_what_plumbing_makes():
    with instrumented() as recorder, nothing_current():
        tracer = recorder.provider.get_tracer("app")

        def plumbing(asked):
            with tracer.start_as_current_span("in plumbing"):
                return asked

        def step(asked):
            with tracer.start_as_current_span("the app's"):
                return (RunnableLambda(plumbing) | plumbing).invoke(asked)

        RunnableLambda(step).invoke(QUESTION)
    assert recorder.names() == ["invoke_workflow step", "  the app's", "    in plumbing", "    in plumbing"]


def test_what_a_retriever_asks_without_saying_so_is_inside_it():
    """`config` not handed on: the ambient span would be right, the question's tree must be too."""

    class Forgetful(Nested):
        def _get_relevant_documents(self, query, *, run_manager):
            return self.inner.invoke(query)[: self.k]

    with instrumented() as recorder, nothing_current():
        Forgetful(inner=Search(found=passages()), k=2).invoke(QUESTION)
    assert recorder.names() == ["retrieval", "  retrieval"]
    (outer,) = [span for span in recorder.named("retrieval") if span.parent is None]
    assert len(outer.attributes[a.RETRIEVAL_CANDIDATES]) == 5


EXITS = {
    "retriever": lambda error, work: WorkingSearch(found=[], error=error, work=work),
    "model": lambda error, work: WorkingModel(answers=[error], work=work),
    "step": lambda error, work: RunnableLambda(lambda _: _throw(error)),
    "chain": lambda error, work: rag(model=WorkingModel(answers=[error], work=work)),
}


def _throw(error):
    raise error


@pytest.mark.parametrize(
    "error", [ConnectionError(), KeyboardInterrupt(), SystemExit(), asyncio.CancelledError()], ids=repr
)
@pytest.mark.parametrize("mode", ["invoke", "stream", "batch"])
@pytest.mark.parametrize("kind", EXITS)
def test_nothing_stays_current_after_an_error(kind, mode, error):
    with instrumented() as recorder, nothing_current():
        with pytest.raises(type(error)):
            MODES[mode](EXITS[kind](error, spans_of(recorder.provider.get_tracer("db"))), QUESTION, {})
        _give_up_leaked()
    assert_well_formed(recorder.spans)


def _give_up_leaked():
    """What LangChain never ends (must-handle 5) a later question does."""
    for run in list(runs._roots.values()):
        give_up(run)


@pytest.mark.parametrize("taken", [0, 1, 3])
def test_a_stream_that_is_given_up_is_closed_inside_its_span(taken):
    class Closing(Scripted):
        def _stream(self, messages, *args, **kwargs):
            try:
                yield from super()._stream(messages)
            finally:
                work("at the close")

    with instrumented() as recorder, nothing_current():
        work = spans_of(recorder.provider.get_tracer("db"))
        stream = Closing(answers=["one two three four five"]).stream(QUESTION)
        for _ in range(taken):
            next(stream)
        stream.close()
    assert recorder.names() == ([] if taken == 0 else ["chat scripted-1", "  at the close"])
    assert [a.PARTIAL in span.attributes for span in recorder.named("chat")] == [True] * (taken > 0)


def test_a_stream_that_is_left_to_the_collector():
    with instrumented() as recorder, nothing_current():
        stream = working(spans_of(recorder.provider.get_tracer("db"))).stream(QUESTION)
        next(stream)
        del stream
        gc.collect()
    assert_well_formed(recorder.spans)


async def test_a_cancelled_call_leaves_nothing_current():
    class Slow(WorkingSearch):
        async def _aget_relevant_documents(self, query, *, run_manager):
            started.set()
            await asyncio.Event().wait()

    started = asyncio.Event()
    with instrumented() as recorder, nothing_current():
        search = Slow(found=[], work=None)

        async def call():
            try:
                await search.ainvoke(QUESTION)
            finally:
                seen.append(trace.get_current_span().get_span_context().is_valid)

        seen = []
        task = asyncio.create_task(call())
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert seen == [False]
        _give_up_leaked()
    assert recorder.names() == ["retrieval"]


async def test_an_asynchronous_stream_that_is_given_up():
    with instrumented() as recorder, nothing_current():
        stream = working(spans_of(recorder.provider.get_tracer("db"))).astream(QUESTION)
        async for _ in stream:
            break
        assert not trace.get_current_span().get_span_context().is_valid
        await stream.aclose()
        async with asyncio.timeout(100):  # LangChain leaves its inner generators to the event loop
            while runs.OPEN:
                gc.collect()
                for _ in range(100):
                    await asyncio.sleep(0)
    assert_well_formed(recorder.spans)


def test_a_task_that_is_destroyed_while_it_waits():
    """Its coroutine is closed from another context than its own: there is nothing to restore, and nothing is said."""

    class Endless(WorkingSearch):
        async def _aget_relevant_documents(self, query, *, run_manager):
            waits.set()
            await asyncio.Future()

    async def start():
        held.append(asyncio.ensure_future(Endless(found=[], work=None).ainvoke(QUESTION)))
        await asyncio.wait_for(waits.wait(), 100)

    held, waits = [], asyncio.Event()
    with instrumented() as recorder, nothing_current():
        loop = asyncio.new_event_loop()
        loop.run_until_complete(start())
        loop.close()
        held.pop()._coro.close() if hasattr(held[0], "_coro") else held.pop().get_coro().close()
        gc.collect()
        _give_up_leaked()
    assert recorder.names() == ["retrieval"]


@pytest.mark.parametrize("sampler", [ParentBased(ALWAYS_OFF), ParentBased(TraceIdRatioBased(0.1))], ids=["0.0", "0.1"])
@pytest.mark.parametrize("mode", ["invoke", "stream", "ainvoke", "astream"])
def test_what_is_not_sampled_stays_unsampled_below(mode, sampler):
    with instrumented(sampler=sampler) as recorder, nothing_current():
        app = working(spans_of(recorder.provider.get_tracer("db")))
        for _ in range(30):
            MODES[mode](app, QUESTION, {})
    roots = recorder.named("invoke_workflow")
    assert len(roots) < 30
    assert {span.context.trace_id for span in recorder.spans} == {span.context.trace_id for span in roots}
    assert len(recorder.named("in the retriever")) == len(roots)


def test_a_caller_s_trace_goes_through_to_what_is_called():
    """W3C trace context and baggage: in as the root's parent, out as our step's span."""
    sent = []

    def call(_name):
        headers = {}
        propagate.inject(headers)
        sent.append((headers, baggage.get_baggage("rag.case.id")))

    incoming = {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "baggage": "team=returns"}
    with instrumented() as recorder:
        token = context.attach(propagate.extract(incoming))
        try:
            with case("c1", experiment="e"):
                WorkingSearch(found=passages(), work=call).invoke(QUESTION)
        finally:
            context.detach(token)
    (span,) = recorder.named("retrieval")
    assert f"{span.parent.span_id:016x}" == "b7ad6b7169203331"
    ((headers, case_id),) = sent
    assert headers["traceparent"] == f"00-0af7651916cd43dd8448eb211c80319c-{span.context.span_id:016x}-01"
    assert "team=returns" in headers["baggage"]
    assert case_id == "c1"


def test_an_sdk_that_is_not_there_changes_nothing():
    """No provider: the app works, and what is current is what the caller made current."""
    from opentelemetry.trace import NoOpTracerProvider

    from rag_probe_langchain import RagProbeInstrumentor

    RagProbeInstrumentor().instrument(tracer_provider=NoOpTracerProvider())
    try:
        seen = []
        app = working(lambda _: seen.append(trace.get_current_span()))
        for mode in MODES.values():
            mode(app, QUESTION, {})
        assert {span.get_span_context().is_valid for span in seen} == {False}
    finally:
        RagProbeInstrumentor().uninstrument()
    assert_nothing_open()


def test_log_records_and_real_calls_are_made_under_our_step(server):
    """A log record, a query and a request over HTTP, in a retriever, a model and a tool."""
    import httpx
    from opentelemetry._logs import LogRecord
    from opentelemetry.sdk._logs import LoggerProvider
    from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor

    logs = InMemoryLogRecordExporter()
    provider = LoggerProvider()
    provider.add_log_record_processor(SimpleLogRecordProcessor(logs))
    logger = provider.get_logger("app")

    def work(name):
        logger.emit(LogRecord(body=name))
        with recorder.provider.get_tracer("sqlite3").start_as_current_span("SELECT"):
            assert sqlite3.connect(":memory:").execute("SELECT 1").fetchone() == (1,)
        httpx.get(server.url, headers=_injected(), timeout=100).raise_for_status()

    with instrumented() as recorder:
        working_tool(work).invoke({"query": QUESTION})
        WorkingModel(answers=[ANSWER], work=work).invoke(QUESTION)
    steps = {"in the tool": "execute_tool", "in the retriever": "retrieval", "in the model": "chat"}
    wanted = [recorder.named(step)[0].context.span_id for step in steps.values()]
    assert [record.log_record.body for record in logs.get_finished_logs()] == list(steps)
    assert [record.log_record.span_id for record in logs.get_finished_logs()] == wanted
    assert [span.parent.span_id for span in recorder.named("SELECT")] == wanted
    assert [int(each.split("-")[2], 16) for each in server.parents] == wanted


def _injected():
    headers = {}
    propagate.inject(headers)
    return headers


@pytest.fixture
def server():
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

    class Answering(BaseHTTPRequestHandler):
        def do_GET(self):
            self.server.parents.append(self.headers["traceparent"])
            self.send_response(204)
            self.end_headers()

        def log_message(self, *args):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Answering) as made:
        made.parents, made.url = [], f"http://127.0.0.1:{made.server_port}/"
        threading.Thread(target=made.serve_forever, args=(0.02,), daemon=True).start()
        logging.getLogger("httpx").setLevel(logging.WARNING)
        yield made
        made.shutdown()
