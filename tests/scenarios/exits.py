"""Apps that end where they are told to: in a stage, by an error, or by standing still until somebody leaves."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from typing import Any, Final, TypedDict

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_classic.retrievers import ContextualCompressionRetriever
from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.output_parsers import StrOutputParser
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from langchain_core.tools import StructuredTool
from langgraph.graph import START, StateGraph
from pydantic import ConfigDict

from tests.rag_probe_langchain.apps import ANSWER, PROMPT, Scripted, Search, as_text, passages
from tests.scenarios.agents import Calling, calls

QUESTION: Final = "How long do I have?"


class Point:
    """A stage and what happens in it: `error` is raised, or without one it stands still until it is let go."""

    def __init__(self, stage: str | None = None, error: BaseException | None = None, native: bool = True) -> None:
        self.stage, self.error, self.native = stage, error, native
        self.reached, self._go = threading.Event(), threading.Event()

    def here(self, stage: str) -> None:
        """Called in the body of every stage."""
        if stage != self.stage:
            return
        self.reached.set()
        if self.error is not None:
            raise self.error
        assert self._go.wait(100)

    async def here_too(self, stage: str) -> None:
        """In asynchronous bodies; in a thread where they are not `native`."""
        if not self.native:
            await asyncio.to_thread(self.here, stage)
        elif stage == self.stage:
            self.reached.set()
            if self.error is not None:
                raise self.error
            await asyncio.Event().wait()

    def let_go(self) -> None:
        """Threads that stand still go on."""
        self._go.set()


class Searching(Search):
    """A retriever with a point."""

    point: Point
    stage: str = "retriever"

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        self.point.here(self.stage)
        return list(self.found)

    async def _aget_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        await self.point.here_too(self.stage)
        return list(self.found)


class Good(BaseDocumentCompressor):
    """Keeps three, with a point."""

    point: Point

    model_config = ConfigDict(arbitrary_types_allowed=True)

    def compress_documents(self, documents: Sequence[Document], query: str, callbacks: Any = None) -> list[Document]:
        self.point.here("compressor")
        return _good(list(documents))

    async def acompress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Any = None
    ) -> list[Document]:
        await self.point.here_too("compressor")
        return _good(list(documents))


class Answering(Calling):
    """A model with a point before its first word, and one in the midst of its last answer, where it streams."""

    point: Point

    @property
    def _stage(self) -> str:
        return "model" if self.turn == 0 else "model again"

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
        self.point.here(self._stage)
        self.point.here("" if self._calls else "model midway")
        return self._whole(messages)

    async def _agenerate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
        await self.point.here_too(self._stage)
        await self.point.here_too("" if self._calls else "model midway")
        return self._whole(messages)

    def _stream(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> Iterator[ChatGenerationChunk]:
        self.point.here(self._stage)
        for place, chunk in enumerate(self._chunks(messages)):
            if place == 2:
                self.point.here("model midway")
            yield chunk

    async def _astream(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        await self.point.here_too(self._stage)
        for place, chunk in enumerate(self._chunks(messages)):
            if place == 2:
                await self.point.here_too("model midway")
            yield chunk

    @property
    def _calls(self) -> bool:
        return isinstance(self.answers[min(self.turn, len(self.answers) - 1)], list)

    def _whole(self, messages: Any) -> ChatResult:
        return Calling._generate(self, messages) if self._calls else Scripted._generate(self, messages)

    def _chunks(self, messages: Any) -> Iterator[ChatGenerationChunk]:
        return Calling._stream(self, messages) if self._calls else Scripted._stream(self, messages)


def _good(found: list[Document]) -> list[Document]:
    return [each for each in found if each.id in {"returns", "sale", "gift"}]


def _step(point: Point, stage: str, does: Callable[[Any], Any], name: str | None = None) -> Any:
    """Fails before it does anything."""

    def act(given: Any) -> Any:
        point.here(stage)
        return does(given)

    async def act_later(given: Any) -> Any:
        await point.here_too(stage)
        return does(given)

    return RunnableLambda(act, act_later, name=name or stage)


def _answered(context: Any, point: Point) -> Any:
    model = Answering(answers=[ANSWER], point=point)
    parse = StrOutputParser() | _step(point, "parser", lambda text: text)
    return ({"context": context, "question": RunnablePassthrough()} | PROMPT | model | parse).with_config(
        run_name="returns desk"
    )


def chain(point: Point) -> Any:
    """retriever → filter → context → model → parser."""
    search = Searching(found=passages(), point=point)
    return _answered(search | _step(point, "filter", _good) | _step(point, "context", as_text), point)


def nested(point: Point) -> Any:
    """(retriever → compressor) → context → model → parser."""
    search = ContextualCompressionRetriever(
        base_retriever=Searching(found=passages(), point=point), base_compressor=Good(point=point)
    )
    return _answered(search | _step(point, "context", as_text), point)


class State(TypedDict, total=False):
    question: str
    passages: list[Document]
    draft: str
    answer: str


def graph(point: Point) -> Any:
    """retrieve → filter → draft → validate."""
    search = Searching(found=passages(), point=point)
    model = Answering(answers=[ANSWER], point=point)

    def prompt(state: State) -> str:
        return f"{as_text(state['passages'])}\n\n{state['question']}"

    found = RunnableLambda(lambda state: state["question"]) | search | (lambda found: {"passages": found})
    wrote = _step(point, "node", prompt) | model | (lambda message: {"draft": message.text})
    made = StateGraph(State)
    made.add_sequence(
        [
            ("retrieve", found),
            ("filter", _step(point, "filter", lambda state: {"passages": _good(state["passages"])})),
            ("draft", wrote),
            ("validate", _step(point, "validator", lambda state: {"answer": state["draft"]})),
        ]
    )
    made.add_edge(START, "retrieve")
    return made.compile(name="returns assistant")


class Checking(AgentMiddleware[Any, Any]):
    """A node of its own before each model call."""

    def __init__(self, point: Point) -> None:
        super().__init__()
        self._point = point

    def before_model(self, state: Any, runtime: Any) -> None:
        self._point.here("node")

    async def abefore_model(self, state: Any, runtime: Any) -> None:
        await self._point.here_too("node")


def agent(point: Point) -> Any:
    """model → tool (→ retriever) → model, with middleware."""
    search = Searching(found=passages("gift", "sale"), point=point)

    def look(query: str) -> str:
        found = search.invoke(query)
        point.here("tool")
        return as_text(found)

    async def look_later(query: str) -> str:
        found = await search.ainvoke(query)
        await point.here_too("tool")
        return as_text(found)

    tool = StructuredTool.from_function(look, look_later, name="look", description="Looks it up.")
    model = Answering(answers=[calls(("look", "gift")), ANSWER], point=point)
    return create_agent(model, [tool], middleware=[Checking(point)], name="returns agent")


SHAPES: Final[Mapping[str, tuple[Callable[[Point], Any], Any, Sequence[str]]]] = {
    "chain": (chain, QUESTION, ("retriever", "filter", "context", "model", "model midway", "parser")),
    "nested": (nested, QUESTION, ("retriever", "compressor", "context", "model", "model midway", "parser")),
    "graph": (
        graph,
        {"question": QUESTION},
        ("retriever", "filter", "node", "model", "model midway", "validator"),
    ),
    "agent": (
        agent,
        {"messages": [("human", QUESTION)]},
        ("node", "model", "retriever", "tool", "model again", "model midway"),
    ),
}
"""Each with what it is asked, and its stages in the order in which they run."""
