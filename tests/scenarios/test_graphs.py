"""LangGraph's shapes: whole span trees and paths, by the callback alone, equal in every mode (issue B)."""

from __future__ import annotations

import asyncio

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphRecursionError

from rag_probe import stage
from rag_probe_langchain import RagProbeCallbackHandler, pauses
from rag_probe_langgraph import RagProbeGraphHandler
from tests.scenarios.gist import gist, told
from tests.scenarios.graph_modes import MODES
from tests.scenarios.graphs import (
    ASKED,
    GOOD,
    GRAPHS,
    KEEPS,
    answering,
    async_function,
    cached,
    called_in_a_node,
    graded,
    line,
    looping,
    plain,
    retrieve,
)
from tests.scenarios.recording import Recording, paths_of, ticking

RACING = {"graded one by one", "searched side by side"}
ALL = ("returns", "sale", "gift", "staff", "old")


def ask(graph, mode="invoke", kind=RagProbeGraphHandler, **config):
    recording = Recording(kind)
    with ticking():
        MODES[mode](graph, ASKED, {"callbacks": [recording.handler], **config})
    return recording


@pytest.mark.parametrize("name", GRAPHS)
def test_the_tree_and_the_path(name, snapshot):
    assert told(ask(GRAPHS[name]()), racing=name in RACING) == snapshot


@pytest.mark.parametrize("mode", [mode for mode in MODES if mode != "invoke"])
def test_they_are_the_same_however_a_graph_is_run(mode):
    for name, graph in GRAPHS.items():
        if name == "a function of tasks" and mode.startswith("a"):
            continue  # tasks whose results are awaited in a function that is not async: LangGraph refuses
        racing = name in RACING
        assert told(ask(graph(), mode), racing=racing) == told(ask(graph()), racing=racing), name


def test_they_are_the_same_by_either_handler():
    for name, graph in GRAPHS.items():
        one, other = ask(graph()), ask(graph(), kind=RagProbeCallbackHandler)
        assert one.tree(parallel=True) == other.tree(parallel=True), name


def test_a_function_of_tasks_may_be_async():
    one, other = ask(GRAPHS["a function of tasks"]()), ask(async_function, "ainvoke")
    renamed = [each.replace("async_function", "function") for each in told(other)]
    assert renamed == told(one)


@pytest.mark.parametrize("mode", ["invoke", "ainvoke", "stream updates", "astream messages"])
@pytest.mark.parametrize("keeps", KEEPS)
def test_what_is_graded_one_by_one_is_lost_by_the_grader(keeps, mode):
    """Passages sent one to a task and gathered by a reducer: one step, named after the node, and lost nowhere else."""
    recording = ask(graded(KEEPS[keeps]), mode)
    (path,) = paths_of(recording.spans)
    assert path.filtered.kept == GOOD
    assert {(each.id, each.step) for each in path.filtered.dropped} == {("staff", "grade"), ("old", "grade")}
    assert (path.context.ids, path.context.dropped) == (GOOD, ())
    assert [span.name for span in recording.spans if "rag." in span.name] == ["rag.filter grade"]


def test_a_grader_may_be_marked_as_the_permission_check():
    (path,) = paths_of(ask(graded(KEEPS["a list"], "permission")).spans)
    assert [(each.id, each.decision) for each in path.permissions] == [
        (name, "allow" if name in GOOD else "deny") for name in ALL
    ]
    assert path.filtered is None


def test_when_all_graders_refuse_nothing_is_left():
    (path,) = paths_of(ask(graded(lambda each: {"kept": []})).spans)
    assert (path.filtered.kept, path.context.ids) == ((), ())


@pytest.mark.parametrize("returned", [lambda each: {"notes": [each.id]}, lambda each: {"notes": [], "kept": []}])
def test_tasks_that_say_nothing_of_passages_are_no_filter(returned):
    (path,) = paths_of(ask(graded(returned)).spans)
    assert path.filtered is None


def test_what_is_drafted_side_by_side_does_not_lose_what_the_others_found():
    (path,) = paths_of(ask(GRAPHS["searched side by side"]()).spans)
    drafts = [step.stage.context for step in path.generations[:-1]]
    assert all(len(each.ids) == 1 and each.dropped == () for each in drafts)
    assert set(path.context.ids) == set(GOOD)
    assert path.context.dropped == ()


def test_what_comes_from_a_nodes_cache_was_retrieved_by_nobody():
    """A hit makes no callback: no node, no retrieval, and no claim that nothing was retrieved."""
    graph = cached()
    first, second = (paths_of(ask(graph).spans)[0] for _ in range(2))
    assert [step.stage.name for step in first.nodes] == ["retrieve", "answer"]
    assert [step.stage.name for step in second.nodes] == ["answer"]
    assert (first.retrieved.ids, second.retrieved) == (ALL, None)
    assert "retrieved" in second.not_captured
    assert second.context.ids == ALL


@pytest.mark.parametrize("checkpointer", [None, True, "own"])
def test_a_graph_in_a_graph_may_remember_by_itself(checkpointer):
    inner = InMemorySaver() if checkpointer == "own" else checkpointer
    config = {"configurable": {"thread_id": "t"}}
    plainly, remembering = (
        ask(graph, **config) for graph in (called_in_a_node(), called_in_a_node(checkpointer=inner))
    )
    assert [span.name for span in remembering.spans] == [span.name for span in plainly.spans]
    assert gist(paths_of(remembering.spans)[0]) == gist(paths_of(plainly.spans)[0])


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
def test_durability_changes_nothing(durability):
    recording, usual = Recording(RagProbeGraphHandler), Recording(RagProbeGraphHandler)
    with ticking():
        for each, options in ((recording, {"durability": durability}), (usual, {})):
            config = {"callbacks": [each.handler], "configurable": {"thread_id": "t"}}
            plain(checkpointer=InMemorySaver()).invoke(ASKED, config, **options)
    assert told(recording) == told(usual)


@pytest.mark.parametrize("mode", ["invoke", "ainvoke", "stream debug", "astream updates"])
def test_a_node_that_fails(mode, snapshot):
    def fail(state):
        raise LookupError("the canary")

    recording = Recording(RagProbeGraphHandler)
    graph = line(("retrieve", retrieve), ("fail", fail)).compile()
    with ticking(), pytest.raises(LookupError):
        MODES[mode](graph, ASKED, {"callbacks": [recording.handler]})
    assert told(recording) == snapshot(name="fails") if mode == "invoke" else told(recording)
    assert "canary" not in str([dict(span.attributes) for span in recording.spans])


def test_too_many_steps_are_an_error():
    recording = Recording(RagProbeGraphHandler)
    with pytest.raises(GraphRecursionError):
        looping().invoke(ASKED, {"callbacks": [recording.handler], "recursion_limit": 3})
    (path,) = paths_of(recording.spans)
    assert (path.error, path.answer.outcome) == ("langgraph.errors.GraphRecursionError", "error")
    assert [step.stage.outcome for step in path.nodes] == ["ok"] * 3


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_cancelled_graph_ends_every_span_once(streamed):
    started = asyncio.Event()

    async def wait(state):
        started.set()
        await asyncio.Event().wait()

    recording = Recording(RagProbeGraphHandler)
    graph, config = line(("retrieve", retrieve), ("wait", wait)).compile(), {"callbacks": [recording.handler]}

    async def consume():
        return [each async for each in graph.astream(ASKED, config)]

    running = asyncio.create_task(consume() if streamed else graph.ainvoke(ASKED, config))
    await asyncio.wait_for(started.wait(), 100)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    recording.tree()
    assert recording.spans[-1].name == "invoke_workflow LangGraph"


def test_a_stage_around_a_question_to_somebody_did_not_fail():
    """GraphInterrupt passes through the block: it is no error of the stage."""
    from langgraph.types import interrupt

    def approve(state):
        with stage("permission", policy="v7") as s:
            s.allow("returns")
            interrupt("May I?")

    recording = Recording(RagProbeGraphHandler)
    graph = line(("retrieve", retrieve), ("approve", approve), ("answer", answering())).compile(
        checkpointer=InMemorySaver()
    )
    graph.invoke(ASKED, {"callbacks": [recording.handler], "configurable": {"thread_id": "t"}})
    pauses.clear()
    (span,) = [span for span in recording.spans if span.name.startswith("rag.permission")]
    assert span.status.is_unset
    assert "error.type" not in span.attributes
