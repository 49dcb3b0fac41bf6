"""A graph's nodes are spans, its pauses are no errors, and what goes on is linked to what paused (checklist 170)."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from importlib.util import find_spec

import pytest
from langgraph.errors import GraphRecursionError
from langgraph.types import Command

from rag_probe import attributes as a
from rag_probe.wire import decode_node
from rag_probe_langchain import RagProbeCallbackHandler, pauses
from rag_probe_langgraph import RagProbeGraphHandler
from tests.rag_probe_langchain.apps import ANSWER, Scripted, passages
from tests.rag_probe_langchain.recorded import Recorder, assert_well_formed
from tests.scenarios.recording import paths_of

from .graphs import RETRYING, approved, checked, clearing, failing_once, fan_out, held, nested, one, two_turns

QUESTION = {"question": "How long do I have?"}
THREAD = {"configurable": {"thread_id": "t-1"}}
TREE = [
    "invoke_workflow returns assistant",
    "  invoke_node retrieve",
    "    retrieval",
    "  invoke_node filter",
    "    rag.filter filter",
    "  invoke_node draft",
    "    chat scripted-1",
    "  invoke_node validate",
    "  invoke_node draft",
    "    chat scripted-1",
    "  invoke_node validate",
]


@pytest.fixture(autouse=True)
def _nothing_waits():
    pauses.clear()


def recorder(kind=RagProbeGraphHandler):
    return Recorder(kind)


def invoke(graph, config):
    return graph.invoke(QUESTION, config)


def ainvoke(graph, config):
    return asyncio.run(graph.ainvoke(QUESTION, config))


def stream(graph, config):
    return list(graph.stream(QUESTION, config, stream_mode="values"))[-1]


def updates(graph, config):
    list(graph.stream(QUESTION, config, stream_mode="updates"))
    return {"answer": ANSWER}


def messages(graph, config):
    list(graph.stream(QUESTION, config, stream_mode="messages"))
    return {"answer": ANSWER}


def astream(graph, config):
    async def collect():
        return [part async for part in graph.astream(QUESTION, config, stream_mode="values")][-1]

    return asyncio.run(collect())


def batch(graph, config):
    return graph.batch([QUESTION], config)[0]


@pytest.mark.parametrize("call", [invoke, ainvoke, stream, updates, messages, astream, batch])
@pytest.mark.parametrize("kind", [RagProbeGraphHandler, RagProbeCallbackHandler])
def test_every_way_of_running_gives_the_same_tree(call, kind):
    recorded = recorder(kind)
    assert call(checked(), recorded.config)["answer"] == ANSWER
    assert recorded.names() == TREE
    assert_well_formed(recorded.spans)


def test_a_node_says_where_in_the_graph_it_stands():
    recorded = recorder()
    checked().invoke(QUESTION, recorded.config)
    nodes = [decode_node(span.attributes) for span in recorded.named("invoke_node")]
    nodes.sort(key=lambda node: node.step)
    assert [(node.name, node.step, node.outcome) for node in nodes] == [
        ("retrieve", 1, "ok"),
        ("filter", 2, "ok"),
        ("draft", 3, "ok"),
        ("validate", 4, "no_write"),
        ("draft", 5, "ok"),
        ("validate", 6, "ok"),
    ]
    assert all(node.checkpoint_ns == f"{node.name}:{node.task_id}" for node in nodes)
    assert len({node.task_id for node in nodes}) == 6


def test_scopes_tell_the_integrations_apart():
    graph, chain = recorder(), recorder(RagProbeCallbackHandler)
    checked().invoke(QUESTION, graph.config)
    checked().invoke(QUESTION, chain.config)
    assert {span.instrumentation_scope.name for span in graph.spans} == {"rag_probe.langgraph"}
    assert {span.instrumentation_scope.name for span in chain.spans} == {"rag_probe.langchain"}


def test_the_answer_comes_from_the_state():
    recorded = recorder()
    checked().invoke(QUESTION, recorded.config)
    root = recorded.one("invoke_workflow")
    assert (root[a.ANSWER_OUTCOME], root[a.ANSWER_LENGTH]) == ("answered", len(ANSWER))
    assert root[a.CITATION_IDS] == ("sale",)
    assert root[a.CITATION_VALID] == (True,)
    assert root[a.QUESTION_LENGTH] == len(QUESTION["question"])


def test_a_pause_is_no_error_and_what_goes_on_is_linked_to_it():
    recorded = recorder()
    graph = approved()
    graph.invoke(QUESTION, {**recorded.config, **THREAD})
    (root,) = recorded.named("invoke_workflow")
    (asking,) = recorded.named("invoke_node approve")
    assert asking.attributes[a.NODE_OUTCOME] == "interrupted"
    assert all(span.status.is_unset for span in recorded.spans)
    assert a.ANSWER_OUTCOME not in root.attributes
    assert root.attributes[a.CONVERSATION_ID] == "t-1"
    task = asking.attributes[a.NODE_TASK_ID]

    recorded.exporter.clear()
    assert graph.invoke(Command(resume=True), {**recorded.config, **THREAD})["approved"] is True
    (again,) = recorded.named("invoke_workflow")
    (answered,) = recorded.named("invoke_node approve")
    assert answered.attributes[a.NODE_OUTCOME] == "answered"
    assert answered.attributes[a.NODE_TASK_ID] == task
    assert [link.context for link in again.links] == [root.context]
    assert [link.context for link in answered.links] == [asking.context]
    assert (again.attributes[a.ANSWER_OUTCOME], again.attributes[a.CITATION_VALID]) == ("answered", (True,))
    assert pauses._pauses == {}
    assert_well_formed(recorded.spans)


def test_a_pause_without_a_thread_is_remembered_nowhere():
    recorded = recorder()
    one(lambda state: Command(goto=[])).invoke(QUESTION, recorded.config)
    assert pauses._pauses == {}


@pytest.mark.skipif(find_spec("langgraph.callbacks") is None, reason="langgraph before 1.1.8 does not tell")
def test_a_graph_stopped_before_a_node_is_linked_too():
    recorded = recorder()
    graph = approved(interrupt_before=["draft"])
    graph.invoke(QUESTION, {**recorded.config, **THREAD})
    (root,) = recorded.named("invoke_workflow")
    assert a.ANSWER_OUTCOME not in root.attributes

    recorded.exporter.clear()
    graph.invoke(None, {**recorded.config, **THREAD})
    (again,) = recorded.named("invoke_workflow")
    assert [link.context for link in again.links] == [root.context]
    assert recorded.one("chat")[a.CONTEXT_IDS] == ("returns", "sale", "gift", "staff", "old")
    graph.invoke(Command(resume=True), {**recorded.config, **THREAD})
    assert_well_formed(recorded.spans)


def test_a_plain_handler_knows_by_its_steps_that_a_graph_only_stopped():
    """It is not told: but nothing else can be the next step of a thread whose graph is given nothing."""
    recorded = recorder(RagProbeCallbackHandler)
    graph = approved(interrupt_before=["draft"], interrupt_after=["draft"])
    graph.invoke(QUESTION, {**recorded.config, **THREAD})
    graph.invoke(None, {**recorded.config, **THREAD})
    graph.invoke(None, {**recorded.config, **THREAD})
    graph.invoke(Command(resume=True), {**recorded.config, **THREAD})
    (path,) = paths_of(recorded.spans)
    assert path.retrieved.ids == path.context.ids == ("returns", "sale", "gift", "staff", "old")
    assert (path.answer.outcome, path.answer.content.length) == ("answered", len(ANSWER))
    assert [step.stage.name for step in path.nodes] == ["retrieve", "draft", "approve"]
    assert_well_formed(recorded.spans)


OTHERS = {
    "a new turn": lambda graph, config: graph.invoke(QUESTION, config),
    "written to meanwhile": lambda graph, config: (
        graph.update_state(THREAD, {"question": "Another?"}),
        graph.invoke(None, config),
    ),
    "from where the caller says": lambda graph, config: graph.invoke(
        None, {**config, **next(graph.get_state_history(THREAD)).config}
    ),
    "another thread": lambda graph, config: (
        graph.invoke(QUESTION, {"configurable": {"thread_id": "t-2"}}),
        graph.invoke(None, {**config, "configurable": {"thread_id": "t-2"}}),
    ),
    "another graph": lambda graph, config: graph.with_config(run_name="other").invoke(None, config),
}


@pytest.mark.parametrize("go", OTHERS.values(), ids=OTHERS)
def test_what_may_be_another_question_is_not_joined_to_a_graph_that_may_have_stopped(go):
    recorded = recorder(RagProbeCallbackHandler)
    graph = approved(interrupt_before=["draft"])
    graph.invoke(QUESTION, {**recorded.config, **THREAD})
    go(graph, {**recorded.config, **THREAD})
    assert [len(span.links) for span in recorded.named("invoke_workflow")] == [0, 0]
    assert_well_formed(recorded.spans)


def test_a_resumed_graph_knows_the_passages_of_its_state():
    recorded = recorder()
    graph = approved(interrupt_before=["draft"])
    graph.invoke(QUESTION, THREAD)
    graph.invoke(None, {**recorded.config, **THREAD})
    assert recorded.one("chat")[a.CONTEXT_IDS] == ("returns", "sale", "gift", "staff", "old")
    assert recorded.one("invoke_workflow")


def test_an_error_in_a_node_is_one_whatever_it_is_called():
    class GraphInterrupt(Exception):  # noqa: N818 - the name is the point
        pass

    def fail(state):
        raise GraphInterrupt

    recorded = recorder()
    with pytest.raises(GraphInterrupt):
        one(fail).invoke(QUESTION, recorded.config)
    assert recorded.names() == ['invoke_workflow LangGraph | status="ERROR"', '  invoke_node only | status="ERROR"']
    assert recorded.one("invoke_node")[a.NODE_OUTCOME] == "error"
    assert_well_formed(recorded.spans)


def test_a_recursion_limit_is_an_error():
    recorded = recorder()
    with pytest.raises(GraphRecursionError):
        checked().invoke(QUESTION, {**recorded.config, "recursion_limit": 3})
    root = recorded.one("invoke_workflow")
    assert root[a.ERROR_TYPE] == "langgraph.errors.GraphRecursionError"
    assert root[a.ANSWER_OUTCOME] == "error"
    assert_well_formed(recorded.spans)


def test_each_attempt_of_a_node_is_a_span():
    tries = []

    def flaky(state):
        tries.append(1)
        if len(tries) == 1:
            raise TimeoutError
        return {"answer": "now"}

    recorded = recorder()
    one(flaky, **RETRYING).invoke(QUESTION, recorded.config)
    first, second = (decode_node(span.attributes) for span in recorded.named("invoke_node"))
    assert (first.attempt, first.outcome, second.attempt, second.outcome) == (None, "error", 2, "ok")
    assert first.task_id == second.task_id


def test_a_node_that_writes_nothing_says_so():
    recorded = recorder()
    one(lambda state: None).invoke(QUESTION, recorded.config)
    assert recorded.one("invoke_node")[a.NODE_OUTCOME] == "no_write"


def test_tasks_of_a_fan_out_are_kept_apart():
    recorded = recorder()
    fan_out().invoke(QUESTION, recorded.config)
    nodes = recorded.named("invoke_node")
    assert len({span.attributes[a.NODE_TASK_ID] for span in nodes}) == len(nodes) == 2
    assert {span.parent.span_id for span in recorded.named("retrieval")} == {span.context.span_id for span in nodes}


def test_a_graph_in_a_node_stands_under_it():
    recorded = recorder()
    nested().invoke(QUESTION, recorded.config)
    assert recorded.names() == ["invoke_workflow outer", "  invoke_node inner", *("  " + line for line in TREE[1:])]
    assert_well_formed(recorded.spans)


def test_a_node_may_be_marked():
    recorded = recorder()
    from .graphs import END, START, State, StateGraph, narrow, retrieve

    graph = StateGraph(State)
    graph.add_node("retrieve", retrieve)
    graph.add_node("rights", narrow, metadata={"rag.stage": "permission"})
    graph.add_edge(START, "retrieve")
    graph.add_edge("retrieve", "rights")
    graph.add_edge("rights", END)
    graph.compile().invoke(QUESTION, recorded.config)
    assert recorded.names()[3:] == ["  invoke_node rights", "    rag.permission rights"]
    assert recorded.one("rag.permission")[a.PERMISSION_DECISIONS] == ("allow", "allow", "allow", "deny", "deny")


def test_a_search_cut_inside_a_node_is_a_filter_after_the_retrieval():
    from .graphs import Search, passages

    def body(state):
        return {"passages": Search(found=passages()).invoke("q")[:2]}

    recorded = recorder()
    one(body).invoke(QUESTION, recorded.config)
    assert recorded.names()[1:] == ["  invoke_node only", "    retrieval", "    rag.filter only"]
    assert recorded.one("rag.filter")[a.FILTER_DROPPED] == ("gift", "staff", "old")


def test_an_agent_with_a_retriever_tool():
    from langchain.agents import create_agent
    from langchain_core.messages import AIMessage
    from langchain_core.tools import create_retriever_tool

    from .graphs import Search, passages

    class Calling(Scripted):
        def bind_tools(self, tools, **kwargs):
            return self

        def _generate(self, messages, stop=None, run_manager=None, **kwargs):
            result = super()._generate(messages, stop, run_manager, **kwargs)
            if self.turn == 1:
                call = {"name": "look", "args": {"query": "gift"}, "id": "call-1", "type": "tool_call"}
                result.generations[0].message = AIMessage("", tool_calls=[call])
            return result

    look = create_retriever_tool(Search(found=passages("gift", "sale")), "look", "Looks it up.")
    agent = create_agent(Calling(answers=["", "Never [1]."]), [look])
    says_so = "ls_integration" in (agent.config or {}).get("metadata", {})  # from langchain 1.2.13 on
    operation = "invoke_agent" if says_so else "invoke_workflow"
    recorded = recorder()
    agent.invoke({"messages": [("human", "Are gift cards taken back?")]}, recorded.config)
    assert recorded.names() == [
        f"{operation} LangGraph",
        "  invoke_node model",
        "    chat scripted-1",
        "  invoke_node tools",
        "    execute_tool look",
        "      retrieval",
        "  invoke_node model",
        "    chat scripted-1",
    ]
    tool = recorded.one("execute_tool")
    assert tool[a.TOOL_CALL_ID] == "call-1"
    answer = recorded.named("chat")[1].attributes
    assert answer[a.CONTEXT_IDS] == ("gift", "sale")
    root = recorded.one(operation)
    assert root[a.CITATION_IDS] == ("gift",)
    assert root[a.QUESTION_LENGTH] == len("Are gift cards taken back?")
    assert_well_formed(recorded.spans)


async def test_a_cancelled_graph_leaves_nothing_open():
    started = asyncio.Event()

    async def wait(state):
        started.set()
        await asyncio.Event().wait()

    recorded = recorder()
    task = asyncio.create_task(one(wait).ainvoke(QUESTION, recorded.config))
    await asyncio.wait_for(started.wait(), 100)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [span.name for span in recorded.spans][-1] == "invoke_workflow LangGraph"
    assert_well_formed(recorded.spans)


@pytest.mark.parametrize("kept", [("returns", "sale"), ("gift",), ()])
def test_a_list_of_an_earlier_turn_is_not_what_a_step_began_with(kept):
    """A checkpointer brings back what the last turn kept: the same ids, or others, in other objects."""
    app = two_turns([("returns", "sale"), kept])
    recorder = Recorder(RagProbeGraphHandler)
    config = {**recorder.config, "configurable": {"thread_id": "t"}}
    app.invoke({"question": "one"}, config)
    recorder.exporter.clear()
    app.invoke({"question": "two"}, config)
    attributes = recorder.one("rag.filter grade")
    assert tuple(attributes.get(a.FILTER_KEPT, ())) == kept
    assert set(attributes[a.FILTER_DROPPED]) == {"returns", "sale", "gift"} - set(kept)


@pytest.mark.parametrize("given", [(), ("sale",)])
def test_what_a_node_clears_of_an_earlier_turn_was_not_filtered(given):
    """A list that came with the question's own input is another matter."""
    app = clearing()
    recorder = Recorder(RagProbeGraphHandler)
    config = {**recorder.config, "configurable": {"thread_id": "t"}}
    app.invoke({"question": "one"}, config)
    recorder.exporter.clear()
    app.invoke({"question": "two", **({"found": passages(*given)} if given else {})}, config)
    dropped = [tuple(span.attributes[a.FILTER_DROPPED]) for span in recorder.named("rag.filter")]
    assert dropped == ([given] if given else [])


@pytest.mark.parametrize("kind", [RagProbeCallbackHandler, RagProbeGraphHandler])
@pytest.mark.parametrize(("graph", "first"), [(approved, None), (held, None), (failing_once, RuntimeError)])
def test_a_resumed_run_alone_does_not_say_that_nothing_was_retrieved(kind, graph, first):
    """Null is not zero: its first part ran in another process, whose spans are not in this source."""
    config = recorder(kind).config | THREAD
    app = graph()
    with nullcontext() if first is None else pytest.raises(first):
        app.invoke(QUESTION, config)
    pauses.clear()
    second = recorder(kind)
    app.invoke(Command(resume="yes") if graph is approved else None, second.config | THREAD)
    (path,) = paths_of(second.spans)
    assert (path.retrieved, path.context, path.generations, path.partial) == (None, None, None, True)
    assert path.answer.outcome == "answered"


def test_a_new_turn_of_a_thread_is_no_resumed_run():
    handler, app = recorder(), failing_once()
    with pytest.raises(RuntimeError):
        app.invoke(QUESTION, recorder().config | THREAD)
    pauses.clear()
    app.invoke(QUESTION, handler.config | THREAD)
    (path,) = paths_of(handler.spans)
    assert not path.partial
    assert path.retrieved.ids
