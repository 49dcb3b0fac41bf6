"""Pauses, resumes and time travel: no error, one entry per task, one question over all its parts (issue B)."""

from __future__ import annotations

import asyncio

import pytest
from langchain_core.runnables import RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.func import entrypoint
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt

from rag_probe import attributes as a
from rag_probe_langchain import RagProbeCallbackHandler, pauses
from rag_probe_langgraph import RagProbeGraphHandler
from tests.rag_probe_langchain.apps import Scripted
from tests.scenarios.gist import told
from tests.scenarios.graphs import ASKED, State, answering, find, line, plain, retrieve
from tests.scenarios.recording import Recording, paths_of, ticking

KINDS = [RagProbeGraphHandler, RagProbeCallbackHandler]


@pytest.fixture(autouse=True)
def _nothing_waits():
    pauses.clear()
    yield
    pauses.clear()


def asking(body=None, **compiled):
    """retrieve → ask → answer."""
    nodes = (("retrieve", retrieve), ("ask", body or ask), ("answer", answering()))
    return line(*nodes).compile(checkpointer=InMemorySaver(), **compiled)


def ask(state):
    return {"notes": [interrupt("May I?")]}


def run(graph, *inputs, kind=RagProbeGraphHandler, mode="invoke", between=lambda: None):
    """Every input in turn on one thread, recorded together."""
    recording = Recording(kind)
    config = {"callbacks": [recording.handler], "configurable": {"thread_id": "t"}}
    with ticking():
        for given in inputs:
            given = given(graph.get_state(config)) if callable(given) else given
            if mode == "invoke":
                graph.invoke(given, config)
            elif mode == "stream":
                list(graph.stream(given, config))
            else:
                asyncio.run(graph.ainvoke(given, config))
            between()
    return recording


def outcomes(path):
    return [(step.stage.name, step.stage.outcome) for step in path.nodes]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("mode", ["invoke", "stream", "ainvoke"])
def test_a_question_that_pauses_is_one(kind, mode, snapshot):
    recording = run(asking(), ASKED, Command(resume="yes"), kind=kind, mode=mode)
    assert told(recording, parallel=False) == snapshot(name="one") if (kind, mode) == (KINDS[0], "invoke") else True
    (path,) = paths_of(recording.spans)
    assert outcomes(path) == [("retrieve", "ok"), ("ask", "answered"), ("answer", "ok")]
    assert (path.answer.outcome, path.partial, path.error, path.warnings) == ("answered", False, None, ())
    assert path.retrieved.ids == path.context.ids
    assert pauses._pauses == {}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shown", [[], [0], [1], [0, 1]], ids=str)
def test_what_the_prompt_lost_is_said_as_without_the_pause(kind, shown):
    """A prompt in which no passage is recognised is not captured, also after a pause: never an empty context."""

    def draft(state):
        texts = [state["passages"][place].page_content for place in shown] or ["A summary of what was found."]
        return {"answer": Scripted(answers=["Never [1]."]).invoke("\n\n".join(texts)).text}

    def context(body, *inputs):
        nodes = (("retrieve", retrieve), ("ask", body), ("draft", draft))
        recording = run(line(*nodes).compile(checkpointer=InMemorySaver()), *inputs, kind=kind)
        (path,) = paths_of(recording.spans)
        return path.retrieved.ids, path.context, "context" in path.not_captured

    assert context(ask, ASKED, Command(resume="yes")) == context(lambda _: {"notes": ["seen"]}, ASKED)


def test_a_pause_alone_is_no_error_and_has_no_answer():
    recording = run(asking(), ASKED)
    assert all(span.status.is_unset for span in recording.spans)
    assert not any(key.startswith(("rag.answer", "rag.citation")) for key in recording.spans[-1].attributes)
    (path,) = paths_of(recording.spans)
    assert (path.answer, path.partial) == (None, True)


def test_a_node_may_ask_twice(snapshot):
    graph = asking(lambda state: {"notes": [interrupt("Who?"), interrupt("When?")]})
    recording = run(graph, ASKED, Command(resume="she"), Command(resume="now"))
    assert told(recording, parallel=False) == snapshot
    (path,) = paths_of(recording.spans)
    assert outcomes(path) == [("retrieve", "ok"), ("ask", "answered"), ("answer", "ok")]


BOTH_ANSWERED = [("answer", "ok"), ("legal", "answered"), ("retrieve", "ok"), ("sales", "answered")]


def several():
    graph = StateGraph(State)
    graph.add_node("retrieve", retrieve)
    for name in ("legal", "sales"):
        graph.add_node(name, lambda state, name=name: {"notes": [interrupt(name)]})
        graph.add_edge("retrieve", name)
    graph.add_node("answer", answering())
    graph.add_edge(["legal", "sales"], "answer")
    graph.add_edge(START, "retrieve")
    return graph.compile(checkpointer=InMemorySaver())


def test_several_nodes_ask_at_once_and_are_answered_together():
    recording = run(several(), ASKED, lambda at: Command(resume={each.id: "yes" for each in at.interrupts}))
    (path,) = paths_of(recording.spans)
    assert sorted(outcomes(path)) == BOTH_ANSWERED


def test_several_nodes_ask_at_once_and_are_answered_one_by_one():
    def answer_the_first(at):
        return Command(resume={at.interrupts[0].id: "yes"})

    recording = run(several(), ASKED, answer_the_first, answer_the_first)
    (path,) = paths_of(recording.spans)
    assert sorted(outcomes(path)) == BOTH_ANSWERED
    assert len(path.trace_ids) == 3


@pytest.mark.parametrize("kind", KINDS)
def test_a_graph_that_pauses_in_a_chain_leaves_no_span_open(kind):
    recording, graph = Recording(kind), asking(interrupt_before=["answer"])
    chain = RunnableLambda(lambda asked: asked) | graph
    chain.invoke(ASKED, {"callbacks": [recording.handler], "configurable": {"thread_id": "t"}})
    recording.tree()
    assert [span.name for span in recording.spans if span.parent is None] == ["invoke_workflow RunnableSequence"]
    assert not any(span.name == "invoke_workflow LangGraph" for span in recording.spans)


@pytest.mark.parametrize("where", ["interrupt_before", "interrupt_after"])
def test_a_graph_that_stops_beside_a_node_is_joined_by_its_link(where, snapshot):
    graph = asking(lambda state: {"notes": ["seen"]}, **{where: ["ask"]})
    recording = run(graph, ASKED, None)
    assert told(recording, parallel=False) == snapshot
    (path,) = paths_of(recording.spans)
    assert outcomes(path) == [("retrieve", "ok"), ("ask", "ok"), ("answer", "ok")]
    assert pauses._pauses == {}


def test_another_process_resumes_and_thread_and_task_join_the_parts():
    recording = run(asking(), ASKED, Command(resume="yes"), between=pauses.clear)
    assert not any(span.links for span in recording.spans)
    (path,) = paths_of(recording.spans)
    assert outcomes(path) == [("retrieve", "ok"), ("ask", "answered"), ("answer", "ok")]
    assert path.retrieved.ids == path.context.ids


@pytest.mark.parametrize("where", ["interrupt_before", "interrupt_after"])
def test_another_process_goes_on_and_thread_and_checkpoint_join_the_parts(where):
    recording = run(asking(lambda state: {"notes": ["seen"]}, **{where: ["ask"]}), ASKED, None, between=pauses.clear)
    assert not any(span.links for span in recording.spans)
    (path,) = paths_of(recording.spans)
    assert outcomes(path) == [("retrieve", "ok"), ("ask", "ok"), ("answer", "ok")]
    assert path.retrieved.ids == path.context.ids


def failing(where="send", **options):
    """retrieve → answer → send; a node fails the first time."""
    left = iter([ConnectionError("down")])

    def body(name):
        def run_once(state):
            if name == where and (error := next(left, None)) is not None:
                raise error
            return {"notes": [name]} if name == "send" else answering()(state)

        return run_once

    nodes = (("retrieve", retrieve), ("answer", body("answer")), ("send", body("send")))
    return line(*nodes).compile(checkpointer=InMemorySaver(), **options)


def run_past_a_failure(graph, between=lambda: None):
    recording = Recording(RagProbeGraphHandler)
    config = {"callbacks": [recording.handler], "configurable": {"thread_id": "t"}}
    with pytest.raises(ConnectionError):
        graph.invoke(ASKED, config)
    between()
    graph.invoke(None, config)
    return recording


def test_a_failure_and_the_run_that_goes_on_from_it_are_one_question():
    """Issue C, 1: the store tells one turn of it. What the model saw before the failure is remembered."""
    recording = run_past_a_failure(failing())
    (path,) = paths_of(recording.spans)
    assert outcomes(path) == [("retrieve", "ok"), ("answer", "ok"), ("send", "recovered")]
    assert (path.answer.outcome, path.partial, path.error, path.warnings) == ("answered", False, None, ())
    assert path.retrieved.ids == path.context.ids
    assert (path.citations.ids, path.citations.valid) == (("sale",), (True,))
    nodes = [span for span in recording.spans if span.name == "invoke_node send"]
    assert [[link.context.span_id for link in span.links] for span in nodes] == [[], [nodes[0].context.span_id]]
    assert pauses._pauses == {}


def test_in_another_process_thread_and_task_join_a_failure_with_what_goes_on():
    recording = run_past_a_failure(failing("answer"), between=pauses.clear)
    assert not any(span.links for span in recording.spans)
    (path,) = paths_of(recording.spans)
    assert outcomes(path) == [("retrieve", "ok"), ("answer", "recovered"), ("send", "ok")]
    assert (path.answer.outcome, path.citations.ids) == ("answered", ("sale",))


def test_a_failure_without_a_thread_is_not_remembered():
    graph = line(("answer", lambda state: 1 / 0)).compile()
    with pytest.raises(ZeroDivisionError):
        graph.invoke(ASKED, {"callbacks": [Recording().handler]})
    assert pauses._pauses == {}


def test_a_failure_after_a_pause_and_the_recovery_from_it():
    left = iter([ConnectionError("down")])

    def ask(state):
        said = interrupt("May I?")
        if (error := next(left, None)) is not None:
            raise error
        return {"notes": [said]}

    graph, recording = asking(ask), Recording(RagProbeGraphHandler)
    config = {"callbacks": [recording.handler], "configurable": {"thread_id": "t"}}
    graph.invoke(ASKED, config)
    with pytest.raises(ConnectionError):
        graph.invoke(Command(resume="yes"), config)
    graph.invoke(None, config)
    (path,) = paths_of(recording.spans)
    assert outcomes(path) == [("retrieve", "ok"), ("ask", "recovered"), ("answer", "ok")]
    assert (path.answer.outcome, path.error, len(path.trace_ids)) == ("answered", None, 3)
    assert pauses._pauses == {}


def test_where_only_the_second_part_was_recorded_nothing_is_said_of_the_first():
    graph, recording = asking(), Recording(RagProbeGraphHandler)
    thread = {"configurable": {"thread_id": "t"}}
    graph.invoke(ASKED, thread)
    graph.invoke(Command(resume="yes"), {**thread, "callbacks": [recording.handler]})
    (path,) = paths_of(recording.spans)
    assert path.retrieved is None
    assert "retrieved" in path.not_captured
    assert len(path.context.ids) == 5


def test_a_pause_in_a_graph_inside_a_graph_is_both_nodes(snapshot):
    graph = line(("retrieve", retrieve), ("inner", line(("ask", ask)).compile()), ("answer", answering()))
    recording = run(graph.compile(checkpointer=InMemorySaver()), ASKED, Command(resume="yes"))
    assert told(recording, parallel=False) == snapshot
    (path,) = paths_of(recording.spans)
    assert outcomes(path) == [("retrieve", "ok"), ("inner", "answered"), ("ask", "answered"), ("answer", "ok")]


def test_a_graph_that_waits_on_a_thread_of_its_own_does_not_stop_the_one_around_it():
    inner = line(("ask", ask)).compile(checkpointer=InMemorySaver())

    def consult(state):
        inner.invoke(ASKED, {"configurable": {"thread_id": "inner"}})
        return {"notes": ["asked"]}

    graph = line(("retrieve", retrieve), ("consult", consult), ("answer", answering()))
    recording = run(graph.compile(checkpointer=InMemorySaver()), ASKED)
    (root,) = [span for span in recording.spans if span.parent is None]
    assert root.attributes[a.ANSWER_OUTCOME] == "answered"


def test_a_function_of_tasks_pauses_and_finished_tasks_are_not_run_again(snapshot):
    @entrypoint(checkpointer=InMemorySaver())
    def function(asked):
        found = find(asked["question"]).result()
        interrupt("May I?")
        return answering()({**asked, "passages": found})["answer"]

    recording = run(function, ASKED, Command(resume="yes"))
    assert told(recording, parallel=False) == snapshot
    (path,) = paths_of(recording.spans)
    assert outcomes(path) == [("function", "answered"), ("find", "ok")]


def test_a_new_question_on_a_thread_that_waits_is_another_one():
    recording = run(asking(), ASKED, {"question": "And in the sale?"})
    assert [outcomes(path)[-1] for path in paths_of(recording.spans)] == [("ask", "interrupted")] * 2
    assert not any(span.links for span in recording.spans)


WAITING = {
    "before a node": (RagProbeGraphHandler, {"interrupt_before": ["answer"]}, lambda state: {"notes": ["seen"]}),
    "after a node": (RagProbeGraphHandler, {"interrupt_after": ["ask"]}, lambda state: {"notes": ["seen"]}),
    "a node asks": (RagProbeGraphHandler, {}, ask),
    "a node asks, told by its exception": (RagProbeCallbackHandler, {}, ask),
}


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize(("kind", "compiled", "body"), WAITING.values(), ids=WAITING)
def test_what_waits_and_is_edited_meanwhile_goes_on_as_one_question(kind, compiled, body, times):
    """`update_state` and then `invoke(None)`, as people correct a draft: a checkpoint of its own, and another step."""
    recording, graph = Recording(kind), asking(body, **compiled)
    config = {"callbacks": [recording.handler], "configurable": {"thread_id": "t"}}
    graph.invoke(ASKED, config)
    for _ in range(times):
        graph.update_state({"configurable": {"thread_id": "t"}}, {"notes": ["corrected"]}, as_node="ask")
    graph.invoke(None, config)
    (path,) = paths_of(recording.spans)
    assert [name for name, _ in outcomes(path)] == ["retrieve", "ask", "answer"]
    assert path.answer.outcome == "answered"
    assert path.retrieved.ids == path.context.ids


def test_what_waited_is_not_gone_on_with_once_another_question_was_asked():
    """Also where that one failed, so that the next run tries it again."""
    recording = run(asking(lambda state: {"notes": ["seen"]}, interrupt_before=["answer"]), ASKED)
    config = {"callbacks": [recording.handler], "configurable": {"thread_id": "t"}}
    left = iter([ConnectionError("down")])

    def fail(state):
        for error in left:
            raise error
        return {"notes": ["found"]}

    graph = line(("retrieve", retrieve), ("ask", fail), ("answer", answering())).compile(checkpointer=InMemorySaver())
    with pytest.raises(ConnectionError):
        graph.invoke(ASKED, config)
    graph.invoke(None, config)
    parts = {outcomes(path)[-1]: len(path.trace_ids) for path in paths_of(recording.spans)}
    assert parts == {("ask", "ok"): 1, ("answer", "ok"): 2}


def test_a_turn_after_a_turn_is_another_question():
    recording = run(plain(checkpointer=InMemorySaver()), ASKED, ASKED)
    paths = paths_of(recording.spans)
    assert len(paths) == 2
    assert {path.thread_id for path in paths} == {"t"}
    assert [len(path.filtered.dropped) for path in paths] == [2, 2]


@pytest.mark.parametrize("forked", [False, True])
def test_time_travel_is_a_question_of_its_own(forked):
    """From an earlier checkpoint, or a fork of it: what ran before is not run, and not claimed."""
    graph, recording = plain(checkpointer=InMemorySaver()), Recording(RagProbeGraphHandler)
    config = {"callbacks": [recording.handler], "configurable": {"thread_id": "t"}}
    graph.invoke(ASKED, config)
    before = next(each for each in graph.get_state_history(config) if each.next == ("answer",)).config
    if forked:
        before = graph.update_state(before, {"question": "And in the sale?"})
    recording.exporter.clear()
    graph.invoke(None, {**before, "callbacks": [recording.handler]})
    (path,) = paths_of(recording.spans)
    assert outcomes(path) == [("answer", "ok")]
    assert path.retrieved is None
    assert path.context.ids == ("returns", "sale", "gift")
    assert path.answer.outcome == "answered"
