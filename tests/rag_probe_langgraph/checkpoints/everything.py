"""One graph with everything that leaves its own mark in a store of checkpoints, and one walk through it."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.documents import Document
from langgraph.cache.memory import InMemoryCache
from langgraph.graph import END, START, StateGraph
from langgraph.types import CachePolicy, Command, RetryPolicy, Send, interrupt

from tests.rag_probe_langchain.apps import ANSWER, Scripted, Search, as_text, passages

QUESTION = "How long do I have?"
ASKED: dict[str, Any] = {"question": QUESTION}
THREAD = "t"


class Desk(TypedDict, total=False):
    question: str
    strict: bool
    documents: list[Document]
    graded: Annotated[list[str], operator.add]
    kept: list[Document]
    context: str
    drafts: Annotated[list[str], operator.add]
    verified: bool
    word: str
    answer: str


class Inner(TypedDict, total=False):
    kept: list[Document]
    context: str


class OneGrade(TypedDict):
    one: Document


def retrieve(state: Desk) -> Desk:
    return {"documents": Search(found=passages()).invoke(state["question"])}


def spread(state: Desk) -> list[Send]:
    return [Send("grade", {"one": each}) for each in state["documents"]]


def grade(state: OneGrade) -> Desk:
    name = state["one"].id or ""
    return {"graded": [] if name in {"old", "staff"} else [name]}


def gather(state: Desk) -> Desk:
    refused = {"gift"} if state.get("strict") else set()
    return {"kept": [each for each in state["documents"] if each.id in {*state["graded"]} - refused]}


def build(state: Inner) -> Inner:
    return {"context": as_text(state["kept"])}


def again(state: Desk) -> str:
    return "verify" if len(state["drafts"]) > 1 else "draft"


def approve(state: Desk) -> Desk:
    return {"word": interrupt("Shall I send it?")}


def send(state: Desk) -> Desk:
    return {"answer": state["drafts"][-1]}


def failing_once(error: Exception) -> Callable[[], None]:
    """Raises it the first time only."""
    left: Iterator[Exception] = iter([error])

    def fail() -> None:
        if (one := next(left, None)) is not None:
            raise one

    return fail


def assembling() -> Any:
    """A graph inside another one's node: it makes the context."""
    inner = StateGraph(Inner)
    inner.add_node("build", build)
    inner.add_edge(START, "build")
    inner.add_edge("build", END)
    return inner.compile()


def everything(saver: Any) -> Any:
    """Fan-out, subgraph, loop, a retry, a failure, an interrupt, a node cache.

    retrieve (cached) → grade (sent each passage) → gather → assemble (a graph) → draft (twice; its first attempt fails)
    → verify (fails once) → approve (asks) → send
    """
    slow, broken = failing_once(TimeoutError("secret")), failing_once(ConnectionError("secret"))

    def draft(state: Desk) -> Desk:
        slow()
        prompt = f"{state['context']}\n\n{state['question']}"
        return {"drafts": [Scripted(answers=[ANSWER]).invoke(prompt).text]}

    def verify(state: Desk) -> Desk:
        broken()
        return {"verified": True}

    built = StateGraph(Desk)
    built.add_node("retrieve", retrieve, cache_policy=CachePolicy(key_func=lambda state: state["question"]))
    built.add_node(
        "draft", draft, retry_policy=RetryPolicy(initial_interval=0.001, jitter=False, retry_on=TimeoutError)
    )
    for node in (grade, gather, verify, approve, send):
        built.add_node(node.__name__, node)
    built.add_node("assemble", assembling())
    built.add_edge(START, "retrieve")
    built.add_conditional_edges("retrieve", spread, ["grade"])
    built.add_edge("grade", "gather")
    built.add_edge("gather", "assemble")
    built.add_edge("assemble", "draft")
    built.add_conditional_edges("draft", again, ["draft", "verify"])
    built.add_edge("verify", "approve")
    built.add_edge("approve", "send")
    built.add_edge("send", END)
    return built.compile(checkpointer=saver, cache=InMemoryCache(), name="returns desk")


def config(**more: Any) -> dict[str, Any]:
    return {"configurable": {"thread_id": THREAD}, "metadata": {"rag.case.id": "c"}, **more}


def walk(app: Any, **more: Any) -> None:
    """A question that fails, goes on, asks and is answered; then taken back to before its search, and answered anew."""
    at = config(**more)
    with pytest.raises(ConnectionError):
        app.invoke(ASKED, at)
    app.invoke(None, at)
    app.invoke(Command(resume="yes"), at)
    first = next(each for each in app.get_state_history(config()) if each.next == ("retrieve",))
    edited = app.update_state(first.config, {"strict": True}, as_node="__start__")
    app.invoke(None, {**edited, **more})
    app.invoke(Command(resume="yes, to all"), at)


async def awalk(app: Any, **more: Any) -> None:
    """The same."""
    at = config(**more)
    with pytest.raises(ConnectionError):
        await app.ainvoke(ASKED, at)
    await app.ainvoke(None, at)
    await app.ainvoke(Command(resume="yes"), at)
    history = [each async for each in app.aget_state_history(config())]
    first = next(each for each in history if each.next == ("retrieve",))
    edited = await app.aupdate_state(first.config, {"strict": True}, as_node="__start__")
    await app.ainvoke(None, {**edited, **more})
    await app.ainvoke(Command(resume="yes, to all"), at)
