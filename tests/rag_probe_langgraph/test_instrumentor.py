"""Issue B, "No code change" for graphs: nodes are current, pauses are heard, and each instrumentor works alone."""

from __future__ import annotations

import asyncio
import operator
import subprocess
import sys
from contextlib import suppress
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.callbacks import CallbackManager
from langchain_core.runnables import RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, Send, interrupt
from opentelemetry import propagate, trace

from rag_probe_langchain import RagProbeCallbackHandler, RagProbeInstrumentor
from rag_probe_langgraph import RagProbeGraphHandler, RagProbeGraphInstrumentor
from tests.rag_probe_langchain.apps import ANSWER, passages
from tests.rag_probe_langchain.instrumenting.instrumented import (
    WorkingModel,
    WorkingSearch,
    instrumented,
    nothing_current,
    spans_of,
    working,
)
from tests.rag_probe_langchain.recorded import Recorder, assert_well_formed
from tests.scenarios.modes import MODES

from .graphs import RETRYING, approved, checked

QUESTION = "How long do I have?"
BOTH = (RagProbeInstrumentor, RagProbeGraphInstrumentor)


@pytest.fixture
def said(monkeypatch, caplog):
    monkeypatch.setattr("rag_probe.faults._said", {})
    return caplog


class State(TypedDict, total=False):
    question: str
    passages: list[Any]
    answer: str
    notes: Annotated[list[str], operator.add]


def graph_of(work, **compiled):
    """retrieve → answer, working in every body."""

    def retrieve(state: State) -> State:
        work("in the node")
        return {"passages": WorkingSearch(found=passages(), work=work).invoke(state["question"])}

    def answer(state: State) -> State:
        work("in the node")
        model = WorkingModel(answers=[ANSWER], work=work)
        return {"answer": model.invoke("\n\n".join(each.page_content for each in state["passages"])).text}

    graph = StateGraph(State)
    graph.add_sequence([retrieve, answer])
    graph.add_edge(START, "retrieve")
    return graph.compile(name="desk", **compiled)


def work_in(recorder):
    return spans_of(recorder.provider.get_tracer("db"))


TREE = [
    "invoke_workflow desk",
    "  invoke_node retrieve",
    "    in the node",
    "    retrieval",
    "      in the retriever",
    "  invoke_node answer",
    "    in the node",
    "    chat scripted-1",
    "      in the model",
]


@pytest.mark.parametrize("mode", MODES.values(), ids=MODES)
def test_what_is_recorded_in_a_node_hangs_under_it(mode):
    with instrumented(*BOTH) as recorder, nothing_current():
        mode(graph_of(work_in(recorder)), {"question": QUESTION}, {})
    assert [line for line in recorder.names() if line.strip() != "in the model, streaming"] == TREE
    assert {span.instrumentation_scope.name for span in recorder.spans} == {"rag_probe.langgraph", "db"}
    assert_well_formed(recorder.spans)


@pytest.mark.parametrize("stream_mode", ["values", "updates", "messages", "custom", "debug", "tasks"])
def test_in_every_stream_mode(stream_mode):
    with instrumented(*BOTH) as recorder, nothing_current():
        for _ in graph_of(work_in(recorder)).stream({"question": QUESTION}, stream_mode=stream_mode):
            assert not trace.get_current_span().get_span_context().is_valid
    assert [line for line in recorder.names() if line.strip() != "in the model, streaming"] == TREE


async def test_asynchronous_nodes_side_by_side_have_each_their_own():
    async def search(state):
        await asyncio.sleep(0)
        work(state["question"])
        return {"notes": [state["question"]]}

    def spread(_state):
        return [Send("search", {"question": f"q{number}"}) for number in range(8)]

    graph = StateGraph(State)
    graph.add_node("search", search)
    graph.add_conditional_edges(START, spread, ["search"])
    graph.add_edge("search", END)
    with instrumented(*BOTH) as recorder, nothing_current():
        work = work_in(recorder)
        await graph.compile().ainvoke({"question": QUESTION})
    nodes = {span.context.span_id for span in recorder.named("invoke_node")}
    assert len(nodes) == 8
    assert {span.parent.span_id for span in recorder.spans if span.name.startswith("q")} == nodes


def test_a_graph_alone_is_recorded_with_its_nodes_current_by_its_own_instrumentor():
    with instrumented(RagProbeGraphInstrumentor) as recorder, nothing_current():
        graph_of(work_in(recorder)).invoke({"question": QUESTION})
        working(work_in(recorder)).invoke(QUESTION)
    (root,) = recorder.named("invoke_workflow")  # a chain outside of a graph is not its part
    graph = [span for span in recorder.spans if span.context.trace_id == root.context.trace_id]
    by_id = {span.context.span_id: span.name for span in graph}
    parents = {by_id[span.parent.span_id] for span in graph if span.instrumentation_scope.name == "db"}
    assert parents == {"invoke_node retrieve", "invoke_node answer"}


def test_langchain_s_instrumentor_alone_records_graphs_too():
    with instrumented() as recorder, nothing_current():
        graph_of(lambda _: None).invoke({"question": QUESTION})
    assert recorder.names() == [line for line in TREE if " in the " not in line]


@pytest.mark.parametrize("kinds", [(RagProbeGraphInstrumentor,), BOTH, BOTH[::-1]], ids=["graph", "both", "turned"])
@pytest.mark.parametrize("compiled", [{}, {"interrupt_before": ["approve"]}], ids=["asks", "stops"])
def test_pauses_and_resumes_are_heard(kinds, compiled):
    """must-handle 6 and 7: no error, no answer yet, and linked when it goes on."""
    with instrumented(*kinds) as recorder, nothing_current():
        graph, config = approved(**compiled), {"configurable": {"thread_id": "t1"}}
        graph.invoke({"question": QUESTION}, config)
        graph.invoke(None if compiled else Command(resume=True), config)
        if compiled:
            graph.invoke(Command(resume=True), config)
    first, second, *_ = recorder.named("invoke_workflow")
    assert "rag.answer.outcome" not in first.attributes
    assert {link.context.trace_id for link in second.links} == {first.context.trace_id}
    assert all(span.status.is_unset for span in recorder.spans)


def test_without_the_graph_instrumentor_a_stop_is_not_heard_until_the_graph_goes_on():
    """What the page says of it: why there are two."""
    with instrumented() as recorder:
        graph, config = approved(interrupt_before=["approve"]), {"configurable": {"thread_id": "t2"}}
        graph.invoke({"question": QUESTION}, config)
        graph.invoke(None, config)
    first, second = recorder.named("invoke_workflow")
    assert "rag.answer.outcome" in first.attributes
    assert [link.context.trace_id for link in second.links] == [first.context.trace_id]


@pytest.mark.parametrize("kind", [RagProbeCallbackHandler, RagProbeGraphHandler])
@pytest.mark.parametrize("given", ["list", "manager"])
def test_a_handler_passed_by_hand_records_once(kind, given):
    mine = Recorder(kind)
    callbacks = [mine.handler] if given == "list" else CallbackManager([mine.handler], [mine.handler])
    with instrumented(*BOTH) as ours, nothing_current():
        graph, config = approved(), {"configurable": {"thread_id": f"{kind.__name__}-{given}"}, "callbacks": callbacks}
        graph.invoke({"question": QUESTION}, config)
    assert ours.spans == ()
    assert [line.strip() for line in mine.names()] == [
        "invoke_workflow LangGraph",
        "invoke_node retrieve",
        "retrieval",
        "invoke_node draft",
        "chat scripted-1",
        "invoke_node approve",
    ]


def test_an_app_s_own_manager_is_not_changed():
    theirs = CallbackManager([])
    with instrumented(RagProbeGraphInstrumentor) as recorder:
        graph_of(lambda _: None).invoke({"question": QUESTION}, {"callbacks": theirs})
    assert theirs.handlers == []
    assert len(recorder.named("invoke_workflow")) == 1


def test_a_graph_inside_a_chain_is_part_of_its_question():
    with instrumented(*BOTH) as recorder, nothing_current():
        work = work_in(recorder)
        chain = RunnableLambda(lambda asked: {"question": asked}) | graph_of(work) | (lambda state: state["answer"])
        assert chain.with_config(run_name="desk").invoke(QUESTION) == ANSWER
    (root,) = [span for span in recorder.spans if span.parent is None]
    assert root.instrumentation_scope.name == "rag_probe.langchain"
    assert len(recorder.named("in the node")) == 2
    assert_well_formed(recorder.spans)


def ask(_state):
    interrupt("?")


def _raise(error):
    def node(_state):
        raise error

    return node


EXITS = {
    "asks": ask,
    "fails": _raise(ValueError()),
    "is stopped": _raise(KeyboardInterrupt()),
    "is cancelled": _raise(asyncio.CancelledError()),
}


@pytest.mark.parametrize("body", EXITS.values(), ids=EXITS)
@pytest.mark.parametrize("mode", ["invoke", "stream", "batch"])
def test_nothing_stays_current_after_any_exit(body, mode):
    graph = StateGraph(State)
    graph.add_node("only", body)
    graph.add_edge(START, "only")
    config = {"configurable": {"thread_id": "t"}}
    with instrumented(*BOTH) as recorder, nothing_current(), suppress(BaseException):
        MODES[mode](graph.compile(checkpointer=InMemorySaver()), {"question": QUESTION}, config)
    assert recorder.named("invoke_node")
    assert_well_formed(recorder.spans)


def test_every_attempt_of_a_node_is_current_by_itself():
    def flaky(_state):
        work("attempt")
        if len(recorder.named("attempt")) < 2:
            raise TimeoutError
        return {"answer": ANSWER}

    graph = StateGraph(State)
    graph.add_node("flaky", flaky, **RETRYING)
    graph.add_edge(START, "flaky")
    with instrumented(*BOTH) as recorder, nothing_current():
        work = work_in(recorder)
        graph.compile().invoke({"question": QUESTION})
    assert [line.split(" | ")[0] for line in recorder.names()] == [
        "invoke_workflow LangGraph",
        "  invoke_node flaky",
        "    attempt",
        "  invoke_node flaky",
        "    attempt",
    ]


def test_a_node_s_calls_carry_its_span_on():
    def node(_state):
        propagate.inject(headers)
        return {"answer": ANSWER}

    headers = {}
    graph = StateGraph(State)
    graph.add_node("only", node)
    graph.add_edge(START, "only")
    with instrumented(*BOTH) as recorder:
        graph.compile().invoke({"question": QUESTION})
    (span,) = recorder.named("invoke_node")
    assert headers["traceparent"].split("-")[2] == f"{span.context.span_id:016x}"


@pytest.mark.parametrize("name", ["_BODIES", "_RUNS", "_PAUSES"])
def test_where_langgraph_s_insides_have_moved_the_rest_goes_on(said, monkeypatch, name):
    gone = ("langgraph.pregel.main", "gone") if name == "_BODIES" else ("gone",)
    monkeypatch.setattr(f"rag_probe_langgraph.wrapped.{name}", gone)
    with instrumented(*BOTH) as recorder, nothing_current():
        checked().invoke({"question": QUESTION})
    assert len(recorder.named("invoke_node")) == 6
    assert [record.getMessage().split(" failed")[0] for record in said.records] == [
        "wrapping langgraph.pregel.main.gone",
        "unwrapping langgraph.pregel.main.gone",
    ][:1]


def test_an_older_langgraph_that_tells_nobody_of_pauses_is_no_fault(said, monkeypatch):
    monkeypatch.setattr("rag_probe_langgraph.wrapped._CALLBACKS", "langgraph.gone")
    with instrumented(*BOTH) as recorder:
        checked().invoke({"question": QUESTION})
    assert len(recorder.named("invoke_node")) == 6
    assert said.records == []


WITHOUT = """
import sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "langgraph":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Finder())
from rag_probe_langchain import RagProbeInstrumentor
RagProbeInstrumentor().instrument()
from langchain_core.runnables import RunnableLambda
assert RunnableLambda(len).invoke("four") == 4
try:
    import rag_probe_langgraph.instrumentor
except ModuleNotFoundError as error:
    print(error.name)
"""


def test_langgraph_need_not_be_installed():
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, timeout=300, check=True)
    assert done.stdout.split(".")[0].strip() == "langgraph"
    assert done.stderr == ""
