"""Agents that people build: retriever tools, functions as tools, middleware of every hook, agents inside agents."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Annotated, Any

from langchain.agents import create_agent
from langchain.agents.middleware import (
    AgentMiddleware,
    HumanInTheLoopMiddleware,
    ModelCallLimitMiddleware,
    ModelFallbackMiddleware,
    ModelRetryMiddleware,
    SummarizationMiddleware,
    ToolCallLimitMiddleware,
    ToolRetryMiddleware,
    dynamic_prompt,
)
from langchain.agents.structured_output import ToolStrategy
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, AIMessageChunk, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.tools import InjectedToolCallId, create_retriever_tool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command
from pydantic import BaseModel

from tests.rag_probe_langchain.apps import Scripted, Search, as_text, passages

ASKED = {"messages": [("human", "Are gift cards taken back?")]}
ANSWER = "Never [1]."
USAGE = {"input_tokens": 70, "output_tokens": 9, "total_tokens": 79}


class Calling(Scripted):
    """Calls tools, or answers, in turn; the same whether it is streamed or not."""

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    def _message(self) -> dict[str, Any]:
        answer = self._next()
        calls = answer if isinstance(answer, list) else []
        said = {"response_metadata": {"model_name": "scripted-1-0101", "model_provider": "openai"}}
        return {"content": "" if calls else answer, "usage_metadata": USAGE, **said}, calls

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
        said, calls = self._message()
        return ChatResult(generations=[ChatGeneration(message=AIMessage(**said, tool_calls=calls))])

    def _stream(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> Iterator[ChatGenerationChunk]:
        said, calls = self._message()
        chunks = [
            {"name": call["name"], "args": str(call["args"]).replace("'", '"'), "id": call["id"], "index": place}
            for place, call in enumerate(calls)
        ]
        yield ChatGenerationChunk(message=AIMessageChunk(**said, tool_call_chunks=chunks))


def calls(*wanted: tuple[str, str], start: int = 1) -> list[dict[str, Any]]:
    """Calls of tools, each by its name and the one argument that all tools here take."""
    return [
        {"name": name, "args": {"query": query}, "id": f"call-{place}", "type": "tool_call"}
        for place, (name, query) in enumerate(wanted, start)
    ]


def model(*answers: Any) -> Calling:
    return Calling(answers=list(answers))


def asks_once() -> Calling:
    return model(calls(("look", "gift")), ANSWER)


def look(kind: Any = "content") -> Any:
    return create_retriever_tool(Search(found=passages("gift", "sale")), "look", "Looks it up.", response_format=kind)


@tool
def search(query: str) -> list[Document]:
    """A search outside of LangChain's retrievers."""
    return passages("returns", "old")


@tool(response_format="content_and_artifact")
def fetch(query: str) -> tuple[str, list[Document]]:
    """As the tutorial does it."""
    found = passages("staff", "gift")
    return as_text(found), found


@tool
def clock(query: str) -> str:
    """No passages at all."""
    return "It is Monday."


@tool
def broken(query: str) -> str:
    """Fails."""
    raise ValueError("the canary")


@tool
def note(query: str, tool_call_id: Annotated[str, InjectedToolCallId]) -> Command[Any]:
    """Writes to the state itself."""
    found = Search(found=passages("gift")).invoke(query)
    return Command(update={"messages": [ToolMessage(as_text(found), tool_call_id=tool_call_id)]})


@tool(return_direct=True)
def direct(query: str) -> str:
    """Is the answer."""
    return as_text(Search(found=passages("gift")).invoke(query))


class EveryHook(AgentMiddleware[Any, Any]):
    """Each hook, sync and async, does nothing."""

    def before_agent(self, state: Any, runtime: Any) -> None:
        return None

    def before_model(self, state: Any, runtime: Any) -> None:
        return None

    def after_model(self, state: Any, runtime: Any) -> None:
        return None

    def after_agent(self, state: Any, runtime: Any) -> None:
        return None

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        return handler(request)

    async def awrap_model_call(self, request: Any, handler: Any) -> Any:
        return await handler(request)

    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        return handler(request)

    async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
        return await handler(request)


class Says(AgentMiddleware[Any, Any]):
    """A tool's error becomes a message to the model."""

    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        try:
            return handler(request)
        except ValueError:
            return ToolMessage("It failed.", tool_call_id=request.tool_call["id"], status="error")

    async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
        try:
            return await handler(request)
        except ValueError:
            return ToolMessage("It failed.", tool_call_id=request.tool_call["id"], status="error")


class Fetches(AgentMiddleware[Any, Any]):
    """Two-step RAG: the passages are put into the messages before the model is asked."""

    def before_model(self, state: Any, runtime: Any) -> Any:
        found = Search(found=passages("gift", "sale")).invoke(state["messages"][-1].text)
        return {"messages": [("human", f"Answer from:\n{as_text(found)}")]}


@dynamic_prompt
def from_passages(request: Any) -> str:
    return "Answer from:\n" + as_text(Search(found=passages("gift", "sale")).invoke(request.messages[-1].text))


class Reply(BaseModel):
    """An answer with its sources."""

    answer: str
    sources: list[str]


def replies() -> list[dict[str, Any]]:
    return [{"name": "Reply", "args": {"answer": "Never.", "sources": ["gift"]}, "id": "call-9", "type": "tool_call"}]


def with_sub_agent(inner: str | None = "researcher", outer: str | None = "desk") -> Any:
    researcher = create_agent(model(calls(("look", "gift")), "Never, says the file."), [look()], name=inner)

    @tool
    def ask(query: str) -> str:
        """Asks somebody who knows."""
        return researcher.invoke({"messages": [("human", query)]})["messages"][-1].text

    @tool
    async def ask_later(query: str) -> str:
        """Asks somebody who knows."""
        return (await researcher.ainvoke({"messages": [("human", query)]}))["messages"][-1].text

    ask.coroutine = ask_later.coroutine
    return create_agent(model(calls(("ask", "gift?")), ANSWER), [ask], name=outer)


def as_a_node() -> Any:
    graph = StateGraph(MessagesState)
    graph.add_node("research", create_agent(asks_once(), [look()], name="researcher"))
    graph.add_edge(START, "research")
    return graph.compile(name="desk")


def with_middleware(*middleware: Any, tools: Any = None, asked: Any = None, **options: Any) -> Any:
    return create_agent(asked or asks_once(), tools or [look()], middleware=list(middleware), **options)


RETRY: dict[str, Any] = {"max_retries": 1, "initial_delay": 0, "jitter": False}
AGENTS: dict[str, Callable[[], Any]] = {
    "a retriever tool": lambda: create_agent(asks_once(), [look()], name="desk"),
    "a retriever tool with artifacts": lambda: create_agent(asks_once(), [look("content_and_artifact")], name="desk"),
    "several tools at once": lambda: create_agent(
        model(calls(("look", "gift"), ("search", "x"), ("fetch", "y"), ("clock", "z")), ANSWER),
        [look(), search, fetch, clock],
    ),
    "a loop": lambda: create_agent(
        model(calls(("look", "gift")), calls(("search", "more"), start=2), calls(("search", "again"), start=3), ANSWER),
        [look(), search],
    ),
    "a tool that writes to the state": lambda: create_agent(model(calls(("note", "gift")), ANSWER), [note]),
    "a tool that answers": lambda: create_agent(model(calls(("direct", "gift"))), [direct]),
    "a tool's error told to the model": lambda: with_middleware(
        Says(), tools=[broken], asked=model(calls(("broken", "gift")), "I cannot say.")
    ),
    "a tool tried again": lambda: with_middleware(
        ToolRetryMiddleware(**RETRY), tools=[broken], asked=model(calls(("broken", "gift")), "I cannot say.")
    ),
    "every hook": lambda: with_middleware(EveryHook()),
    "a model tried again": lambda: with_middleware(
        ModelRetryMiddleware(**RETRY), asked=model(TimeoutError(), calls(("look", "gift")), ANSWER)
    ),
    "another model": lambda: with_middleware(ModelFallbackMiddleware(asks_once()), asked=model(TimeoutError())),
    "too many model calls": lambda: with_middleware(
        ModelCallLimitMiddleware(run_limit=2), asked=model(calls(("look", "gift")))
    ),
    "too many tool calls": lambda: with_middleware(
        ToolCallLimitMiddleware(run_limit=1),
        asked=model(calls(("look", "gift")), calls(("look", "x"), start=2), ANSWER),
    ),
    "a summary of the talk": lambda: with_middleware(
        SummarizationMiddleware(model("A summary of it all."), trigger=("messages", 3), keep=("messages", 1))
    ),
    "a prompt made of passages": lambda: with_middleware(from_passages, asked=model(ANSWER), tools=[clock]),
    "passages put before the model": lambda: with_middleware(Fetches(), asked=model(ANSWER), tools=[clock]),
    "a structured answer": lambda: create_agent(
        model(calls(("look", "gift")), replies()), [look()], response_format=ToolStrategy(Reply)
    ),
    "an agent as a tool": with_sub_agent,
    "an agent as a node": as_a_node,
}


def finds_and_asks(finder: Any) -> Any:
    """What it does with what it found, somebody has to approve."""
    asks = HumanInTheLoopMiddleware(interrupt_on={"clock": True})
    wanted = calls((finder.name, "gift")), calls(("clock", "now"), start=2)
    return create_agent(model(*wanted, ANSWER), [finder, clock], middleware=[asks], checkpointer=InMemorySaver())


def reviewed() -> Any:
    """Somebody has to approve every search."""
    review = HumanInTheLoopMiddleware(interrupt_on={"look": True})
    return with_middleware(review, checkpointer=InMemorySaver())
