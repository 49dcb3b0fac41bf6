"""Small graphs that a user would recognise."""

from __future__ import annotations

import operator
from typing import Annotated, Any, TypedDict

from langchain_core.documents import Document
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import RetryPolicy, Send, interrupt

from tests.rag_probe_langchain.apps import ANSWER, Scripted, Search, as_text, passages


class State(TypedDict, total=False):
    question: str
    passages: list[Document]
    drafts: Annotated[list[str], operator.add]
    answer: str
    approved: bool


def retrieve(state: State) -> State:
    return {"passages": Search(found=passages()).invoke(state["question"])}


def narrow(state: State) -> State:
    return {"passages": [each for each in state["passages"] if each.id not in {"old", "staff"}]}


def draft(state: State) -> State:
    text = Scripted(answers=[ANSWER]).invoke(f"{as_text(state['passages'])}\n\n{state['question']}").text
    return {"drafts": [text]}


def validate(state: State) -> State:
    return {"answer": state["drafts"][-1]} if len(state["drafts"]) > 1 else {}


def again(state: State) -> str:
    return END if "answer" in state else "draft"


def checked(**compiled: Any) -> Any:
    """retrieve → filter → draft → validate, and once back to draft."""
    graph = StateGraph(State)
    graph.add_node("retrieve", retrieve)
    graph.add_node("filter", narrow)
    graph.add_node("draft", draft)
    graph.add_node("validate", validate)
    graph.add_edge(START, "retrieve")
    graph.add_edge("retrieve", "filter")
    graph.add_edge("filter", "draft")
    graph.add_edge("draft", "validate")
    graph.add_conditional_edges("validate", again, ["draft", END])
    return graph.compile(name="returns assistant", **compiled)


def approve(state: State) -> State:
    return {"approved": interrupt("Shall I send it?"), "answer": state["drafts"][-1]}


def approved(**compiled: Any) -> Any:
    """retrieve → draft → approve, which asks somebody."""
    graph = StateGraph(State)
    graph.add_node("retrieve", retrieve)
    graph.add_node("draft", draft)
    graph.add_node("approve", approve)
    graph.add_edge(START, "retrieve")
    graph.add_edge("retrieve", "draft")
    graph.add_edge("draft", "approve")
    graph.add_edge("approve", END)
    return graph.compile(checkpointer=InMemorySaver(), **compiled)


def _ending(body: Any, **compiled: Any) -> Any:
    graph = StateGraph(State)
    graph.add_node("retrieve", retrieve)
    graph.add_node("send", body)
    graph.add_edge(START, "retrieve")
    graph.add_edge("retrieve", "send")
    graph.add_edge("send", END)
    return graph.compile(checkpointer=InMemorySaver(), **compiled)


def held() -> Any:
    """retrieve, a stop, and an answer without a model."""
    return _ending(lambda state: {"answer": f"see {state['passages'][0].id}"}, interrupt_before=["send"])


def failing_once() -> Any:
    """retrieve, and a node that fails when it is run for the first time."""
    ran: list[State] = []

    def send(state: State) -> State:
        ran.append(state)
        if len(ran) == 1:
            raise RuntimeError("the mail server is down")
        return {"answer": f"see {state['passages'][0].id}"}

    return _ending(send)


def one(body: Any, **node: Any) -> Any:
    """A graph of one node."""
    graph = StateGraph(State)
    graph.add_node("only", body, **node)
    graph.add_edge(START, "only")
    graph.add_edge("only", END)
    return graph.compile()


def fan_out() -> Any:
    """Two searches at once, each a task of the same node."""

    def spread(state: State) -> list[Send]:
        return [Send("search", {"question": name}) for name in ("gift", "sale")]

    def search(state: State) -> dict[str, Any]:
        found = Search(found=passages(state["question"])).invoke(state["question"])
        return {"drafts": [each.page_content for each in found]}

    graph = StateGraph(State)
    graph.add_node("search", search)
    graph.add_conditional_edges(START, spread, ["search"])
    graph.add_edge("search", END)
    return graph.compile()


def nested() -> Any:
    """A graph whose node is a graph."""
    graph = StateGraph(State)
    graph.add_node("inner", checked())
    graph.add_edge(START, "inner")
    graph.add_edge("inner", END)
    return graph.compile(name="outer")


RETRYING = {"retry_policy": RetryPolicy(max_attempts=2, initial_interval=0.001, jitter=False, retry_on=TimeoutError)}


class Graded(TypedDict, total=False):
    question: str
    found: list[Document]
    kept: list[Document]


def two_turns(kept: list[tuple[str, ...]]) -> Any:
    """A graph that remembers, and keeps other passages in each turn; `retrieve` and `grade` write different lists."""
    turns = iter(kept)

    def retrieve(state: Graded) -> Graded:
        return {"found": Search(found=passages("returns", "sale", "gift")).invoke(state["question"])}

    def grade(state: Graded) -> Graded:
        wanted = next(turns)
        return {"kept": [each for each in state["found"] if each.id in wanted]}

    graph = StateGraph(Graded)
    graph.add_sequence([retrieve, grade])
    graph.add_edge(START, "retrieve")
    return graph.compile(checkpointer=InMemorySaver())


def clearing() -> Any:
    """A graph that remembers, and empties its list before it searches."""

    def clear(state: Graded) -> Graded:
        return {"found": []}

    def retrieve(state: Graded) -> Graded:
        return {"found": Search(found=passages("returns", "gift")).invoke(state["question"])}

    graph = StateGraph(Graded)
    graph.add_sequence([clear, retrieve])
    graph.add_edge(START, "clear")
    return graph.compile(checkpointer=InMemorySaver())
