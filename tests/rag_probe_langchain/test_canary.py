"""issue B, Privacy: with content off, one string put wherever an app can put text leaves by no exporter and no signal.

What leaves by contracts 3 holds no canary: ids, names of steps, tools and nodes, run names, the allow-list's values,
short codes, types of exceptions.
"""

from __future__ import annotations

import asyncio
import logging
from datetime import UTC, datetime
from enum import Enum
from typing import Annotated, TypedDict

import pytest
from langchain.agents import create_agent
from langchain_core.callbacks import adispatch_custom_event, dispatch_custom_event
from langchain_core.documents import Document
from langchain_core.language_models import FakeListLLM
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from langchain_core.tools import create_retriever_tool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import Command, interrupt
from opentelemetry import baggage, trace
from opentelemetry import metrics as api
from opentelemetry.context import attach, detach

from rag_probe import case, faults, stage, tell
from rag_probe.policy import CapturePolicy
from rag_probe_langchain import ContextBuilder, PermissionRetriever, RagProbeCallbackHandler
from tests.everywhere import everywhere

from .apps import PROMPT, Nested, Scripted, Search, as_text

CANARY = "Xyzzy is what the customer said"
QUESTION = f"What is {CANARY}?"


class Odd(Enum):
    TEXT = CANARY


class Hostile:
    """Says the canary whatever it is asked."""

    def __str__(self):
        raise RuntimeError(CANARY)

    def __repr__(self):
        return CANARY

    def __len__(self):
        raise ValueError(CANARY)

    def __eq__(self, other):
        raise TypeError(CANARY)

    __hash__ = None


FOUND = [
    Document(id="one", page_content=f"{CANARY} is thirty days after delivery.", metadata={"note": CANARY, CANARY: 1}),
    Document(page_content=f"Without an id, {CANARY} is what this passage says.", metadata={"page": {"in": [CANARY]}}),
    Document(
        page_content=CANARY, metadata={"author": CANARY, "when": datetime.now(UTC), "of": Hostile(), "e": Odd.TEXT}
    ),
    Document(id="odd", page_content=f"\ud800 {CANARY}", metadata={"score": float("nan"), "raw": CANARY.encode()}),
]
MESSAGE = AIMessage(
    f"{CANARY} [1] [{CANARY}]",
    response_metadata={"note": CANARY, "finish_reason": "stop"},
    additional_kwargs={"x": CANARY, "citations": [{"text": CANARY}]},
)


def config(handler, **more):
    return {"callbacks": [handler], "metadata": {"note": CANARY, CANARY: "x"}, "tags": [CANARY], **more}


@tool
def look(query: str) -> str:
    """Look it up."""
    return f"{CANARY} {query}"


def decide(found):
    look.invoke({"query": CANARY})
    dispatch_custom_event("seen", {"text": CANARY})
    return told(found)


def told(found):
    with stage("permission", policy="v7") as decided:
        decided.allow("one")
        decided.deny("two", f"because of {CANARY}")
    with stage("filter") as s:
        s.keep(*found)
        s.drop(Hostile(), CANARY)
    tell.outcome(CANARY)
    tell.confidence(CANARY)
    tell.budget(limit=CANARY)
    tell.citations([("one", f"[{CANARY}]", 0, 9), f"as {CANARY} said", Hostile()])
    tell.identity(roles=Hostile())
    return found


def chain(search=None, model=None):
    retrieve = (search or Search(found=FOUND)) | RunnableLambda(decide) | as_text
    return (
        {"context": retrieve, "question": RunnablePassthrough()}
        | PROMPT
        | (model or Scripted(answers=[MESSAGE.text]))
        | RunnableLambda(lambda message: {"answer": message.text, "why": CANARY})
    )


def a_chain(handler):
    chain(Nested(inner=Search(found=FOUND))).invoke(QUESTION, config(handler))


def a_stream(handler):
    list(chain().stream(QUESTION, config(handler)))
    for _ in chain().stream(QUESTION, config(handler)):
        break


def an_async_stream(handler):
    async def run():
        async def event(text):
            await adispatch_custom_event("seen", {"text": CANARY})
            return text

        app = chain() | RunnableLambda(event)
        async for _ in app.astream_events(QUESTION, config(handler), version="v2"):
            pass

    asyncio.run(run())


def a_batch_of_completions(handler):
    (RunnableLambda(str) | FakeListLLM(responses=[CANARY])).batch([QUESTION, CANARY], config(handler))


def an_agent(handler):
    class Calling(Scripted):
        def bind_tools(self, tools, **kwargs):
            return self

        def _generate(self, messages, stop=None, run_manager=None, **kwargs):
            result = super()._generate(messages, stop, run_manager, **kwargs)
            names = {1: "look", 2: "search"}
            if self.turn in names:
                call = {
                    "name": names[self.turn],
                    "args": {"query": CANARY},
                    "id": f"call-{self.turn}",
                    "type": "tool_call",
                }
                result.generations[0].message.tool_calls = [call]
            return result

    search = create_retriever_tool(Search(found=FOUND), "search", CANARY, response_format="content_and_artifact")
    agent = create_agent(Calling(answers=["", "", MESSAGE.text]), [look, search], system_prompt=CANARY)
    agent.invoke({"messages": [HumanMessage(QUESTION)]}, config(handler))


class State(TypedDict, total=False):
    question: str
    secret: object
    passages: list[Document]
    messages: Annotated[list, add_messages]
    answer: str


def a_graph(handler):
    def retrieve(state):
        return {"passages": FOUND[:2], "secret": CANARY}  # what a checkpointer can keep

    def ask(state):
        said = interrupt({"text": CANARY})
        return {"answer": f"{CANARY} {said}", "messages": [MESSAGE]}

    graph = StateGraph(State)
    graph.add_node("retrieve", retrieve)
    graph.add_node("ask", ask)
    graph.add_edge(START, "retrieve")
    graph.add_edge("retrieve", "ask")
    graph.add_edge("ask", END)
    app = graph.compile(checkpointer=InMemorySaver())
    thread = config(handler, configurable={"thread_id": "t"})
    app.invoke({"question": QUESTION, "messages": [HumanMessage(QUESTION)]}, thread)
    app.invoke(Command(resume=CANARY), thread)


def fail(*_):
    raise ConnectionError(CANARY)


def failures(handler):
    broken = tool("broken", description="d")(lambda query: fail())

    def node(state):
        fail()

    graph = StateGraph(State)
    graph.add_node("node", node)
    graph.add_edge(START, "node")
    apps = [
        chain(Search(found=[], error=ConnectionError(CANARY))),
        chain(model=Scripted(answers=[ConnectionError(CANARY)])),
        Search(found=FOUND) | RunnableLambda(fail).with_config(metadata={"rag.stage": "filter"}),
        RunnableLambda(lambda _: broken.invoke({"query": CANARY})),
        RunnableLambda(fail).with_fallbacks([RunnableLambda(fail)]),
        RunnableLambda(fail).with_retry(stop_after_attempt=2, wait_exponential_jitter=False),
    ]
    for app in apps:
        with pytest.raises(ConnectionError):
            app.invoke(QUESTION, config(handler))
    with pytest.raises(ConnectionError):
        graph.compile().invoke({"question": QUESTION}, config(handler))


def failing_hooks(handler):
    def fail(*_):
        raise RuntimeError(CANARY)

    hooks = {"outcome": fail, "identity": fail, "tokenizer": fail}
    for name, hook in hooks.items():
        broken = RagProbeCallbackHandler(
            tracer_provider=handler._options.provider,
            meter_provider=handler._options.meter_provider,
            policy=handler._options.policy,
            **{name: hook},
        )
        chain().invoke(QUESTION, config(broken))


def a_case_and_baggage(handler):
    token = attach(baggage.set_baggage("note", CANARY))
    try:
        with case("case-1", experiment="e"):
            chain().invoke(QUESTION, config(handler))
    finally:
        detach(token)


def components(handler):
    def allow(document):
        return document.id != "odd", f"because of {CANARY}"

    checked = PermissionRetriever(retriever=Search(found=FOUND), allow=allow, policy="v7")
    build = ContextBuilder(
        token_limit=20, overflow="character", document_prompt=lambda each: f"{CANARY} {each.page_content}"
    )
    app = {"context": checked | build, "question": RunnablePassthrough()} | PROMPT | Scripted(answers=[MESSAGE.text])
    app.invoke(QUESTION, config(handler))
    with pytest.raises(ConnectionError):
        PermissionRetriever(retriever=Search(found=FOUND), allow=fail, policy="v7").invoke(QUESTION, config(handler))


def outside_of_any_framework(handler):
    with trace.get_tracer("app").start_as_current_span("request"):
        told([])


def inputs_of_any_kind(handler):
    echo = RunnableLambda(lambda given: given)
    for given in (Hostile(), [Hostile()], {"question": Hostile(), CANARY: CANARY}, {"messages": [Hostile()]}, CANARY):
        echo.invoke(given, config(handler))


SHAPES = (
    a_chain,
    a_stream,
    an_async_stream,
    a_batch_of_completions,
    an_agent,
    a_graph,
    failures,
    failing_hooks,
    a_case_and_baggage,
    components,
    outside_of_any_framework,
    inputs_of_any_kind,
)


@pytest.fixture(params=[None, b"secret"], ids=["no key", "key"])
def out(request, monkeypatch):
    monkeypatch.setattr(faults, "_said", {})
    with everywhere() as out:
        policy = CapturePolicy(digest_key=request.param)
        out.handler = RagProbeCallbackHandler(
            tracer_provider=out.tracer_provider, meter_provider=out.meter_provider, policy=policy
        )
        monkeypatch.setattr(api, "get_meter_provider", lambda: out.meter_provider)
        monkeypatch.setattr("rag_probe.staging._tracer", out.tracer_provider.get_tracer("rag_probe"))
        yield out


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_canary_leaves_by_no_exporter_and_no_signal(out, caplog):
    with caplog.at_level(logging.DEBUG, "rag_probe"):
        for shape in SHAPES:
            shape(out.handler)
    logging.getLogger("rag_probe").warning("a record, so that this signal is looked at too")
    out.flush()
    seen = {where for where, body in out.outputs() if body}
    assert seen == {
        "console",
        "in memory spans",
        "in memory metrics",
        *(f"{word} /v1/{signal}" for word in ("http", "json", "grpc") for signal in ("traces", "metrics", "logs")),
    }
    for where, body in out.outputs():
        at = body.find(b"Xyzzy")
        assert at < 0, (where, body[max(at - 300, 0) : at + 60])
    ours = [record for record in caplog.records if record.name.startswith("rag_probe")]
    assert not [record for record in ours if "Xyzzy" in record.getMessage() or "Xyzzy" in str(record.__dict__)]
