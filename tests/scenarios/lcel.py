"""Every way in which LangChain's expression language puts runnables together, as small RAG apps of real classes."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from operator import itemgetter
from typing import Any

from langchain_core.chat_history import InMemoryChatMessageHistory
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, ToolMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.runnables import (
    ConfigurableField,
    RunnableBranch,
    RunnableGenerator,
    RunnableLambda,
    RunnableParallel,
    RunnablePassthrough,
    RunnablePick,
    chain,
)
from langchain_core.runnables.history import RunnableWithMessageHistory
from langchain_core.tools import tool
from pydantic import BaseModel

from tests.rag_probe_langchain.apps import ANSWER, PROMPT, Nested, Scripted, Search, as_text, not_old, passages

QUESTION = "How long do I have?"


def search(*names: str, **more: Any) -> Search:
    return Search(found=passages(*names), **more)


def failing() -> Search:
    return search(error=ConnectionError("down"))


def model(*answers: Any) -> Scripted:
    return Scripted(answers=list(answers or (ANSWER,)))


def asked(context: Any, writer: Any = None) -> Any:
    """Prompt, model and parser over a context."""
    return {"context": context, "question": RunnablePassthrough()} | PROMPT | (writer or model()) | StrOutputParser()


def assigned() -> Any:
    """A state that grows, key by key."""
    return (
        {"question": RunnablePassthrough()}
        | RunnablePassthrough.assign(found=itemgetter("question") | search())
        | RunnablePassthrough.assign(kept=lambda state: not_old(state["found"]))
        | RunnablePassthrough.assign(context=lambda state: as_text(state["kept"]))
        | RunnablePassthrough.assign(answer=PROMPT | model() | StrOutputParser())
        | RunnablePick(["answer", "kept"])
    )


def parallel() -> Any:
    """Two searches at once, their passages joined."""
    both = RunnableParallel(goods=search("returns", "sale"), gifts=search("gift", "old"))
    return asked(both | (lambda found: [*found["goods"], *found["gifts"]]) | not_old | as_text)


def branch() -> Any:
    """The question decides where is searched."""
    by_kind = RunnableBranch((lambda question: "gift" in question, search("gift")), search("returns", "sale"))
    return asked(by_kind | as_text)


def fallback_of_a_retriever() -> Any:
    return asked(failing().with_fallbacks([search("returns", "sale")]) | as_text)


def fallback_of_a_model() -> Any:
    return asked(search() | as_text, model(TimeoutError()).with_fallbacks([model()]))


def fallback_of_a_chain() -> Any:
    return asked(failing() | as_text).with_fallbacks([asked(search("returns", "sale") | as_text)])


def fallback_inside_a_retriever() -> Any:
    """A retriever whose own search fails, and falls back."""
    return asked(Nested(inner=failing()).with_fallbacks([Nested(inner=search())]) | as_text)


def retry() -> Any:
    flaky = model(TimeoutError(), ANSWER).with_retry(stop_after_attempt=2, wait_exponential_jitter=False)
    return asked(search() | as_text, flaky)


def retry_of_a_chain() -> Any:
    inner = asked(search() | as_text, model(TimeoutError(), ANSWER))
    return inner.with_retry(stop_after_attempt=2, wait_exponential_jitter=False)


def configurable() -> Any:
    """A field and an alternative that the call may choose."""
    found = search("returns", "sale").configurable_fields(found=ConfigurableField(id="found"))
    either = found.configurable_alternatives(ConfigurableField(id="kb"), default_key="goods", gifts=search("gift"))
    return asked(either.with_config(configurable={"kb": "gifts"}) | as_text)


def returned_runnable() -> Any:
    """A function that returns the runnable to go on with."""
    return asked(RunnableLambda(lambda question: search("gift") if "gift" in question else search()) | as_text)


def decorated() -> Any:
    """`@chain`: one function that calls everything itself."""

    @chain
    def answer(question: str) -> str:
        found = not_old(search().invoke(question))
        prompt = PROMPT.invoke({"context": as_text(found), "question": question})
        return StrOutputParser().invoke(model().invoke(prompt))

    return answer


def generator() -> Any:
    """A generator at the end."""

    def shout(parts: Any) -> Any:
        for part in parts:
            yield part.upper()

    async def ashout(parts: Any) -> Any:
        async for part in parts:
            yield part.upper()

    return asked(search() | as_text) | RunnableGenerator(shout, ashout)


def history() -> Any:
    """The turns before, kept in memory."""
    memory = InMemoryChatMessageHistory(messages=[HumanMessage("Hello."), AIMessage("Hello, how can I help?")])
    prompt = ChatPromptTemplate.from_messages(
        [("system", "Answer from:\n{context}"), MessagesPlaceholder("past"), ("human", "{question}")]
    )
    inner = RunnablePassthrough.assign(context=itemgetter("question") | search() | as_text) | prompt | model()
    remembering = RunnableWithMessageHistory(
        inner, lambda session_id: memory, input_messages_key="question", history_messages_key="past"
    )
    return remembering.with_config(configurable={"session_id": "s"})


def each() -> Any:
    """Three questions of one, each searched; `map` over a list."""
    split = RunnableLambda(lambda question: [question, f"{question} In the sale?"])
    flat = RunnableLambda(lambda lists: list({one.id: one for found in lists for one in found}.values()))
    return asked(split | search("returns", "sale").map() | flat | as_text)


def bound() -> Any:
    """Arguments bound, listeners added, names given."""
    heard: list[Any] = []
    writer = model().bind(stop=["###"]).with_listeners(on_end=heard.append)
    return asked(search() | RunnableLambda(not_old).with_config(run_name="freshness") | as_text, writer)


REPLY = json.dumps({"text": ANSWER, "sources": ["sale"]})


class Reply(BaseModel):
    """An answer and its sources."""

    text: str
    sources: list[str]


class Structured(Scripted):
    """Answers with a tool's call, as chat models do for a structure."""

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self.bind()

    def _generate(self, *args: Any, **kwargs: Any) -> ChatResult:
        call = {"name": "Reply", "args": json.loads(REPLY), "id": "c1", "type": "tool_call"}
        return ChatResult(generations=[ChatGeneration(message=AIMessage("", tool_calls=[call]))])

    def _stream(self, *args: Any, **kwargs: Any) -> Iterator[ChatGenerationChunk]:
        call = {"name": "Reply", "args": REPLY, "id": "c1", "index": 0, "type": "tool_call_chunk"}
        yield ChatGenerationChunk(message=AIMessageChunk("", tool_call_chunks=[call]))


def structured() -> Any:
    """An answer with a structure, by a tool's call."""
    writer = Structured(answers=[]).with_structured_output(Reply)
    return {"context": search() | as_text, "question": RunnablePassthrough()} | PROMPT | writer


def tools_by_hand() -> Any:
    """A tool that searches, called by hand, its message put into the next prompt."""

    @tool(response_format="content_and_artifact")
    def look_up(query: str) -> tuple[str, list[Any]]:
        """Search."""
        found = search("returns", "sale").invoke(query)
        return as_text(found), found

    def answer(question: str) -> str:
        call = {"name": "look_up", "args": {"query": question}, "id": "c1", "type": "tool_call"}
        said: ToolMessage = look_up.invoke(call)
        messages = [HumanMessage(question), AIMessage("", tool_calls=[call]), said]
        return model().invoke(messages).content

    return RunnableLambda(answer)


def thread() -> Any:
    """A raw thread, which knows no context: what the step hands over is all that it has."""

    def answer(question: str, config: Any) -> str:
        said: list[str] = []
        inner = asked(search() | as_text)
        worker = threading.Thread(target=lambda: said.append(inner.invoke(question, config)))
        worker.start()
        worker.join(100)
        return said[0]

    return RunnableLambda(answer)


def streamed_by_hand() -> Any:
    """A model that a step streams as typed events (version 3)."""

    def answer(question: str) -> str:
        prompt = PROMPT.invoke({"context": as_text(search().invoke(question)), "question": question})
        return str(model().stream_events(prompt, version="v3").text)

    return RunnableLambda(answer)


APPS: dict[str, Any] = {
    make.__name__.replace("_", " "): make
    for make in (
        assigned,
        parallel,
        branch,
        fallback_of_a_retriever,
        fallback_of_a_model,
        fallback_of_a_chain,
        fallback_inside_a_retriever,
        retry,
        retry_of_a_chain,
        configurable,
        returned_runnable,
        decorated,
        generator,
        history,
        each,
        bound,
        structured,
        tools_by_hand,
        thread,
        streamed_by_hand,
    )
}
ASKED: dict[str, Any] = {"history": {"question": QUESTION}}
"""What goes in where it is not the question itself."""
