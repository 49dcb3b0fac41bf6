"""Issue B, "No code change": what is installed, that it is installed once, and that it goes again without a trace."""

from __future__ import annotations

import functools
import gc
import subprocess
import sys
import threading
import weakref

import pytest
from langchain_core.callbacks import BaseCallbackHandler, CallbackManager
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda
from langchain_core.runnables import config as runnable_config

from rag_probe_langchain import RagProbeCallbackHandler, RagProbeInstrumentor
from rag_probe_langchain.instrumenting import wrapping
from rag_probe_langchain.instrumenting.families import Family
from tests.rag_probe_langchain.apps import ANSWER, Search, passages, rag
from tests.rag_probe_langchain.recorded import Recorder

from .instrumented import WorkingSearch, held, instrumented, nothing_current, spans_of

QUESTION = "How long do I have?"
NAMES = [
    "invoke_workflow returns desk",
    "  retrieval",
    "  rag.filter not_old",
    "  rag.permission allowed",
    "  rag.context as_text",
    "  chat scripted-1",
]


@pytest.fixture
def said(monkeypatch, caplog):
    monkeypatch.setattr("rag_probe.faults._said", {})
    return caplog


def test_an_app_that_nobody_changed_leaves_the_whole_path():
    with instrumented() as recorder:
        assert rag().invoke(QUESTION) == ANSWER
    assert recorder.names() == NAMES


def test_uninstrumented_it_records_nothing_and_all_is_what_it_was():
    before = held()
    with instrumented() as recorder:
        assert held() != before
    assert held() == before
    rag().invoke(QUESTION)
    assert recorder.spans == ()


def test_it_may_be_done_twice_and_again():
    before = held()
    first, second = Recorder(), Recorder()
    RagProbeInstrumentor().instrument(tracer_provider=first.provider)
    RagProbeInstrumentor().instrument(tracer_provider=second.provider)
    rag().invoke(QUESTION)
    RagProbeInstrumentor().uninstrument()
    RagProbeInstrumentor().uninstrument()
    assert held() == before
    RagProbeInstrumentor().instrument(tracer_provider=second.provider)
    rag().invoke(QUESTION)
    RagProbeInstrumentor().uninstrument()
    assert first.names() == second.names() == NAMES
    assert held() == before


def test_what_runs_while_it_is_uninstrumented_is_recorded_to_its_end():
    recorder = Recorder()
    RagProbeInstrumentor().instrument(tracer_provider=recorder.provider)
    with nothing_current():
        stream = rag().stream(QUESTION)
        next(stream)
        RagProbeInstrumentor().uninstrument()
        assert list(stream)
    assert recorder.names() == NAMES


def test_classes_defined_before_and_after_are_reached_and_their_overrides():
    class Before(WorkingSearch):
        def invoke(self, asked, config=None, **kwargs):
            return super().invoke(asked, config, **kwargs)[:1]

    with instrumented() as recorder, nothing_current():

        class After(Before, extra="forbid"):
            def invoke(self, asked, config=None, **kwargs):
                return super().invoke(asked, config, **kwargs)

        work = spans_of(recorder.provider.get_tracer("db"))
        for kind in (Before, After):
            assert len(kind(found=passages(), work=work).invoke(QUESTION)) == 1
    assert recorder.names() == ["retrieval", "  in the retriever"] * 2
    assert "_rag_probe_wraps" not in vars(vars(After)["invoke"])


def test_a_class_of_the_app_is_not_kept_alive():
    with instrumented():

        class Passing(Search):
            def invoke(self, asked, config=None, **kwargs):
                return super().invoke(asked, config, **kwargs)

        gone = weakref.ref(Passing)
        del Passing
        gc.collect()
        assert gone() is None


def test_another_s_wrapper_around_ours_survives():
    calls = []
    with_ours = Recorder()
    RagProbeInstrumentor().instrument(tracer_provider=with_ours.provider)
    ours = BaseRetriever.invoke
    try:

        @functools.wraps(ours)
        def theirs(*args, **kwargs):
            calls.append("theirs")
            return ours(*args, **kwargs)

        BaseRetriever.invoke = theirs
        RagProbeInstrumentor().uninstrument()
        assert BaseRetriever.invoke is theirs
        Search(found=passages()).invoke(QUESTION)
        assert calls == ["theirs"]
        assert with_ours.spans == ()
    finally:
        BaseRetriever.invoke = ours
        wrapping.put_back(BaseRetriever, "invoke")
    assert not hasattr(BaseRetriever.invoke, "_rag_probe_wraps")


class Hearing(BaseCallbackHandler):
    def __init__(self):
        self.heard = []

    def on_retriever_start(self, *args, **kwargs):
        self.heard.append("start")

    def on_retriever_end(self, *args, **kwargs):
        self.heard.append("end")


@pytest.mark.parametrize(
    "callbacks", [list, lambda handlers: CallbackManager(handlers, handlers)], ids=["list", "manager"]
)
def test_the_app_s_own_handlers_hear_what_they_heard(callbacks):
    theirs = Hearing()
    with instrumented() as recorder:
        rag().invoke(QUESTION, {"callbacks": callbacks([theirs])})
    assert theirs.heard == ["start", "end"]
    assert recorder.names() == NAMES


def test_a_handler_that_ignores_retrievers_still_ignores_them():
    class Deaf(Hearing):
        ignore_retriever = True

    deaf = Deaf()
    with instrumented() as recorder:
        rag().invoke(QUESTION, {"callbacks": [deaf]})
    assert deaf.heard == []
    assert recorder.names() == NAMES


def test_it_works_in_a_bare_thread():
    with instrumented() as recorder:
        thread = threading.Thread(target=rag().invoke, args=(QUESTION,))
        thread.start()
        thread.join()
    assert recorder.names() == NAMES


@pytest.mark.parametrize("where", ["config", "constructor", "with_config"])
def test_a_handler_passed_by_hand_records_and_nothing_is_recorded_twice(where):
    mine = Recorder()
    with instrumented() as ours, nothing_current():
        search = WorkingSearch(found=passages(), work=spans_of(mine.provider.get_tracer("db")))
        if where == "config":
            rag(search).invoke(QUESTION, mine.config)
        elif where == "with_config":
            rag(search).with_config(callbacks=[mine.handler]).invoke(QUESTION)
        else:
            (search | RunnableLambda(len)).with_config(run_name="returns desk").invoke(QUESTION, mine.config)
    assert ours.spans == ()
    wanted = ["  retrieval", "    in the retriever"]
    assert mine.names()[:3] == [NAMES[0], *wanted]
    assert len(mine.named("retrieval")) == 1


def test_a_handler_by_hand_deeper_down_adds_nothing():
    mine = Recorder()
    with instrumented() as ours:
        rag(Search(found=passages()).with_config(callbacks=[mine.handler])).invoke(QUESTION)
    assert ours.names() == NAMES
    assert mine.spans == ()


def test_it_takes_what_the_handler_takes():
    with instrumented(outcome=lambda _: "partial", tokenizer=lambda text: 7) as recorder:
        rag().invoke(QUESTION)
    assert recorder.one("invoke_workflow")["rag.answer.outcome"] == "partial"
    assert set(recorder.one("chat")["rag.context.tokens"]) == {7}


def test_a_misspelt_option_is_said_and_left_out(said):
    RagProbeInstrumentor().instrument(polices=1)
    RagProbeInstrumentor().uninstrument()
    (record,) = said.records
    assert "policy" in record.getMessage()
    assert record.getMessage().endswith("polices left out")


@pytest.mark.parametrize("value", [None, "not a function"])
def test_where_langchain_s_insides_have_moved_the_callback_goes_on_alone(said, monkeypatch, value):
    original = runnable_config._set_config_context
    monkeypatch.setattr(
        "rag_probe_langchain.instrumenting.langchain._CONFIG", ("langchain_core.runnables.config", "gone")
    )
    if value is not None:
        monkeypatch.setattr(runnable_config, "gone", value, raising=False)
    with instrumented() as recorder:
        for _ in range(2):
            rag().invoke(QUESTION)
    assert runnable_config._set_config_context is original
    assert recorder.names() == NAMES * 2
    assert len([record for record in said.records if record.getMessage().startswith("wrapping")]) == 1


def test_a_method_that_is_gone_is_said_once(said):
    family = Family(BaseRetriever, {"ask": lambda function: function, "newer": lambda function: function}, ("newer",))
    family.wrap()
    family.unwrap()
    (record,) = said.records
    assert record.getMessage().startswith("BaseRetriever has no ask: ")


def test_a_processor_that_fails_at_the_start_of_a_body_harms_nobody(said):
    from opentelemetry.sdk.trace import SpanProcessor

    class Failing(SpanProcessor):
        def on_start(self, span, parent_context=None):
            raise RuntimeError("disk full")

    with instrumented() as recorder, nothing_current():
        recorder.provider.add_span_processor(Failing())
        assert rag().invoke(QUESTION) == ANSWER
    assert {record.name for record in said.records} == {"rag_probe"}


BLOCKED = """
import sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[:2] == ["opentelemetry", "instrumentation"]:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Finder())
import rag_probe_langchain
rag_probe_langchain.RagProbeCallbackHandler()
try:
    rag_probe_langchain.RagProbeInstrumentor
except ModuleNotFoundError as error:
    print(error)
"""


def test_the_handler_does_without_the_package_that_the_instrumentor_needs():
    done = subprocess.run([sys.executable, "-c", BLOCKED], capture_output=True, text=True, timeout=300, check=True)
    assert done.stdout.startswith("RagProbeInstrumentor needs opentelemetry.instrumentation")
    assert "pip install 'rag-probe-otel[langchain]'" in done.stdout


def test_the_handler_s_name_is_the_package_s_and_no_other_is():
    import rag_probe_langchain

    assert rag_probe_langchain.RagProbeCallbackHandler is RagProbeCallbackHandler
    with pytest.raises(AttributeError, match="no attribute 'Missing'"):
        rag_probe_langchain.Missing  # noqa: B018
