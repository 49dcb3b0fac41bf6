"""The main shapes, each a small app and a way of calling it; an error that the app lets out is no matter here."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from langchain.agents import create_agent
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import create_retriever_tool
from langgraph.types import Command

from tests.rag_probe_langchain.apps import ANSWER, Nested, Scripted, Search, passages, rag
from tests.rag_probe_langgraph.graphs import approved, checked
from tests.scenarios.modes import MODES

QUESTION: Final = "How long do I have?"
THREE: Final = [f"{QUESTION} ({number})" for number in range(3)]

Shape = Callable[[Any], object]
"""From a config to a call."""


class Calling(Scripted):
    """Calls a tool first."""

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> Any:
        result = super()._generate(messages, stop, run_manager, **kwargs)
        if self.turn == 1:
            call = {"name": "look", "args": {"query": "gift"}, "id": "call-1", "type": "tool_call"}
            result.generations[0].message = AIMessage("", tool_calls=[call])
        return result


class Nameless(Scripted):
    """A model that does not say what it is called."""

    def _get_ls_params(self, stop: Any = None, **kwargs: Any) -> Any:
        return {"ls_model_type": "chat"}


def agent() -> Any:
    look = create_retriever_tool(Search(found=passages("gift", "sale")), "look", "Looks it up.")
    return create_agent(Calling(answers=["", "Never [1]."]), [look], name="desk agent")


ASKED: Final = {"question": QUESTION}
TOLD: Final = {"messages": [("human", "Are gift cards taken back?")]}


def called(app: Callable[[], Any], asked: Any, mode: str) -> Shape:
    return lambda config: MODES[mode](app(), asked, config)


def batched(config: Any) -> object:
    return rag().batch(THREE, config)


def abatched(config: Any) -> object:
    return asyncio.run(rag().abatch(THREE, config))


def given_up(config: Any) -> object:
    stream = rag().stream(QUESTION, config)
    next(stream)
    stream.close()
    return None


def failing(config: Any) -> object:
    with suppress(TimeoutError):
        rag(search=Search(found=[], error=TimeoutError("no answer"))).invoke(QUESTION, config)
    return None


def paused(config: Any) -> object:
    graph = approved()
    config = {**config, "configurable": {"thread_id": "t1"}}
    graph.invoke(ASKED, config)
    return graph.invoke(Command(resume=True), config)


def nested() -> Any:
    return rag(search=Nested(inner=Search(found=passages())))


def fallen_back() -> Any:
    """The first retriever fails inside a fallback, whose child loses its parent when callbacks are passed by hand."""
    first = Search(found=[], error=TimeoutError("no answer"))
    return rag(search=first.with_fallbacks([Search(found=passages())]))


SHAPES: Final[dict[str, Shape]] = {
    **{f"chain {mode}": called(rag, QUESTION, mode) for mode in MODES},
    "chain batch of three": batched,
    "chain abatch of three": abatched,
    "chain after a batch": called(rag, QUESTION, "invoke"),
    "chain given up": given_up,
    "chain failing": failing,
    "chain of a nameless model": called(lambda: rag(model=Nameless(answers=[ANSWER])), QUESTION, "invoke"),
    "chain with a nested retriever": called(nested, QUESTION, "invoke"),
    "chain with a fallback": called(fallen_back, QUESTION, "invoke"),
    **{f"graph {mode}": called(checked, ASKED, mode) for mode in ("invoke", "stream", "ainvoke", "astream")},
    "graph paused and resumed": paused,
    **{f"agent {mode}": called(agent, TOLD, mode) for mode in ("invoke", "stream", "ainvoke", "astream")},
    "model alone": called(lambda: Scripted(answers=["Yes."]), "Really?", "invoke"),
    "retriever alone": called(lambda: Search(found=passages()), QUESTION, "invoke"),
    "step alone": called(lambda: RunnableLambda(str.upper), QUESTION, "invoke"),
}

MAIN: Final = frozenset(
    {
        "chain invoke",
        "chain stream",
        "chain ainvoke",
        "chain batch of three",
        "graph invoke",
        "graph astream",
        "graph paused and resumed",
        "agent ainvoke",
        "model alone",
    }
)
"""Those that are run in every way of recording."""
