"""Graphs that people build: each a way in which passages go from node to node."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Annotated, Any, TypedDict

from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda
from langgraph.cache.memory import InMemoryCache
from langgraph.func import entrypoint, task
from langgraph.graph import END, START, StateGraph
from langgraph.store.memory import InMemoryStore
from langgraph.types import CachePolicy, Command, RetryPolicy, Send

from tests.rag_probe_langchain.apps import ANSWER, Scripted, Search, as_text, passages

ASKED: dict[str, Any] = {"question": "How long do I have?"}
GOOD = ("returns", "sale", "gift")
RETRY = RetryPolicy(max_attempts=2, initial_interval=0.001, jitter=False, retry_on=TimeoutError)


class State(TypedDict, total=False):
    question: str
    passages: list[Document]
    kept: Annotated[list[Document], operator.add]
    passage: Document
    rounds: int
    notes: Annotated[list[str], operator.add]
    answer: str


def retrieve(state: State) -> State:
    return {"passages": Search(found=passages()).invoke(state["question"])}


def good(found: list[Document]) -> list[Document]:
    return [each for each in found if each.id in GOOD]


def narrow(state: State) -> State:
    return {"passages": good(state["passages"])}


def answering(key: str = "passages") -> Callable[[State], State]:
    def answer(state: State) -> State:
        prompt = f"{as_text(state.get(key, []))}\n\n{state['question']}"
        return {"answer": Scripted(answers=[ANSWER]).invoke(prompt).text}

    return answer


def line(*nodes: tuple[str, Any], **options: Any) -> StateGraph[Any]:
    """Nodes one after another."""
    graph = StateGraph(State, **options)
    for place, (name, body) in enumerate(nodes):
        graph.add_node(name, body)
        graph.add_edge(START if place == 0 else nodes[place - 1][0], name)
    return graph


def plain(**compiled: Any) -> Any:
    return line(("retrieve", retrieve), ("filter", narrow), ("answer", answering())).compile(name="desk", **compiled)


def by_command() -> Any:
    graph = StateGraph(State)
    graph.add_node("retrieve", retrieve)
    graph.add_node("grade", lambda state: Command(update=narrow(state), goto="answer"), destinations=("answer",))
    graph.add_node("answer", answering())
    graph.add_edge(START, "retrieve")
    graph.add_edge("retrieve", "grade")
    return graph.compile()


def to_the_parent() -> Any:
    inner = line(("grade", lambda state: Command(update=narrow(state), goto="answer", graph=Command.PARENT)))
    graph = line(("retrieve", retrieve), ("sub", inner.compile()))
    graph.add_node("answer", answering())
    return graph.compile()


def looping() -> Any:
    """Search again until there is something good."""

    def search(state: State) -> State:
        rounds = state.get("rounds", 0) + 1
        names = ("staff", "old") if rounds == 1 else ("returns", "sale")
        return {"rounds": rounds, "passages": Search(found=passages(*names)).invoke(state["question"])}

    graph = StateGraph(State)
    graph.add_node("search", search)
    graph.add_node("grade", narrow)
    graph.add_node("answer", answering())
    graph.add_edge(START, "search")
    graph.add_edge("search", "grade")
    graph.add_conditional_edges("grade", lambda state: "answer" if state["passages"] else "search")
    graph.add_edge("answer", END)
    return graph.compile()


def graded(returned: Callable[[Document], Any], mark: str | None = None) -> Any:
    """Every passage is sent to a grader of its own, a reducer gathers them."""
    graph = StateGraph(State)
    graph.add_node("retrieve", retrieve)
    metadata = {"rag.stage": mark} if mark else None
    graph.add_node("grade", lambda state: returned(state["passage"]), metadata=metadata)
    graph.add_node("answer", answering("kept"))
    graph.add_edge(START, "retrieve")
    graph.add_conditional_edges(
        "retrieve", lambda state: [Send("grade", {"passage": each}) for each in state["passages"]], ["grade"]
    )
    graph.add_edge("grade", "answer")
    return graph.compile()


def searched_apart() -> Any:
    """A search for each topic, side by side, each with a draft of its own from what it found."""

    def search(state: State) -> State:
        found = Search(found=passages(state["question"])).invoke(state["question"])
        draft = Scripted(answers=[f"On {state['question']}."]).invoke(as_text(found)).text
        return {"kept": found, "notes": [draft]}

    graph = StateGraph(State)
    graph.add_node("search", search)
    graph.add_node("answer", answering("kept"))
    graph.add_conditional_edges(START, lambda state: [Send("search", {"question": each}) for each in GOOD], ["search"])
    graph.add_edge("search", "answer")
    return graph.compile()


def called_in_a_node(**compiled: Any) -> Any:
    inner = line(("retrieve", retrieve), ("filter", narrow)).compile(name="inner", **compiled)

    def look(state: State) -> State:
        return {"passages": inner.invoke({"question": state["question"]})["passages"]}

    async def look_later(state: State) -> State:
        return {"passages": (await inner.ainvoke({"question": state["question"]}))["passages"]}

    return line(("look", RunnableLambda(look, look_later)), ("answer", answering())).compile(name="outer")


def as_a_node() -> Any:
    inner = line(("retrieve", retrieve), ("filter", narrow)).compile(name="inner")
    return line(("look", inner), ("answer", answering())).compile(name="outer")


def deferred() -> Any:
    graph = StateGraph(State)
    graph.add_node("retrieve", retrieve)
    graph.add_node("long", lambda state: {"notes": ["a"]})
    graph.add_node("longer", lambda state: {"notes": ["b"]})
    graph.add_node("answer", answering(), defer=True)
    graph.add_edge(START, "retrieve")
    graph.add_edge("retrieve", "long")
    graph.add_edge("long", "longer")
    graph.add_edge("longer", "answer")
    graph.add_edge("retrieve", "answer")
    return graph.compile()


def flaky() -> Any:
    tries: list[int] = []

    def search(state: State) -> State:
        tries.append(1)
        found = retrieve(state)
        if len(tries) == 1:
            raise TimeoutError
        return found

    graph = StateGraph(State)
    graph.add_node("search", search, retry_policy=RETRY)
    graph.add_node("answer", answering())
    graph.add_edge(START, "search")
    graph.add_edge("search", "answer")
    return graph.compile()


def cached() -> Any:
    graph = StateGraph(State)
    graph.add_node("retrieve", retrieve, cache_policy=CachePolicy())
    graph.add_node("answer", answering())
    graph.add_edge(START, "retrieve")
    graph.add_edge("retrieve", "answer")
    return graph.compile(cache=InMemoryCache())


def with_context_and_store() -> Any:
    store = InMemoryStore()
    store.put(("rules",), "tone", {"value": "short"})

    def answer(state: State, runtime: Any) -> State:
        tone = runtime.store.get(("rules",), "tone").value["value"]
        return {"answer": Scripted(answers=[ANSWER]).invoke(f"{tone} {as_text(state['passages'])}").text}

    from langgraph.runtime import Runtime

    answer.__annotations__["runtime"] = Runtime
    return line(("retrieve", retrieve), ("answer", answer), context_schema=dict).compile(store=store)


@task
def find(question: str) -> list[Document]:
    return Search(found=passages()).invoke(question)


@task
def keep(found: list[Document]) -> list[Document]:
    return good(found)


@entrypoint()
def function(asked: dict[str, Any]) -> str:
    kept = keep(find(asked["question"]).result()).result()
    return Scripted(answers=[ANSWER]).invoke(f"{as_text(kept)}\n\n{asked['question']}").text


@entrypoint()
async def async_function(asked: dict[str, Any]) -> str:
    kept = await keep(await find(asked["question"]))
    return (await Scripted(answers=[ANSWER]).ainvoke(f"{as_text(kept)}\n\n{asked['question']}")).text


KEEPS: dict[str, Callable[[Document], Any]] = {
    "a list": lambda each: {"kept": good([each])},
    "nothing where it fails": lambda each: {"kept": [each]} if each.id in GOOD else None,
    "a command": lambda each: Command(update={"kept": good([each])}),
}
GRAPHS: dict[str, Callable[[], Any]] = {
    "a line": plain,
    "a command": by_command,
    "a command to the parent": to_the_parent,
    "a loop": looping,
    "graded one by one": lambda: graded(KEEPS["a list"]),
    "searched side by side": searched_apart,
    "a graph called in a node": called_in_a_node,
    "a graph as a node": as_a_node,
    "a node that waits for all": deferred,
    "a node tried again": flaky,
    "context and store": with_context_and_store,
    "a function of tasks": lambda: function,
}
