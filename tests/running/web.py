"""The returns desk as a web app, `uvicorn tests.running.web:app`: case and caller are known from each request."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Annotated, Any

from fastapi import BackgroundTasks, Depends, FastAPI, Header
from fastapi.responses import StreamingResponse
from opentelemetry.instrumentation.fastapi import FastAPIInstrumentor

from rag_probe import configure, tell
from rag_probe.stages import Identity
from rag_probe_langchain import RagProbeCallbackHandler
from tests.rag_probe_langchain.apps import Scripted, rag

telemetry = configure("desk")
HANDLER = RagProbeCallbackHandler(identity=lambda asked, metadata: Identity(subject=str(metadata["user"])))
CHAIN = rag()


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    yield
    telemetry.shutdown(100)  # uvicorn ends by the signal that it was sent, and then Python runs no atexit


app = FastAPI(lifespan=lifespan)
FastAPIInstrumentor.instrument_app(app, exclude_spans=["receive", "send"])


def caller(user: Annotated[str, Header()]) -> dict[str, Any]:
    """One handler for all requests."""
    return {"callbacks": [HANDLER], "metadata": {"user": user}}


Caller = Annotated[dict[str, Any], Depends(caller)]


@app.get("/sync")
def answer(question: str, config: Caller) -> str:
    return CHAIN.invoke(question, config)


@app.get("/async")
async def answer_async(question: str, config: Caller) -> str:
    return await CHAIN.ainvoke(question, config)


@app.get("/own")
async def answer_with_a_handler_of_its_own(question: str, user: Annotated[str, Header()]) -> str:
    handler = RagProbeCallbackHandler(identity=lambda asked, metadata: Identity(subject=user))
    return await CHAIN.ainvoke(question, {"callbacks": [handler]})


@app.get("/stream")
def stream(question: str, config: Caller) -> StreamingResponse:
    return StreamingResponse(CHAIN.stream(question, config), media_type="text/plain")


@app.get("/background")
def later(question: str, config: Caller, tasks: BackgroundTasks) -> str:
    tasks.add_task(CHAIN.invoke, question, config)
    return "later"


class Slow(Scripted):
    """Writes faster than people read, and slower than they leave."""

    def _stream(self, *args: Any, **kwargs: Any) -> Iterator[Any]:
        for chunk in super()._stream(*args, **kwargs):
            threading.Event().wait(0.005)
            yield chunk


@app.get("/slow")
def slow(question: str, config: Caller) -> StreamingResponse:
    """A stream that is not asynchronous goes on to its end though nobody listens: so LangChain has it."""
    chain = rag(model=Slow(answers=["word " * 200]))
    return StreamingResponse(chain.stream(question, config), media_type="text/plain")


@app.get("/slow-async")
async def slow_async(question: str, config: Caller) -> StreamingResponse:
    chain = rag(model=Slow(answers=["word " * 20_000]))
    return StreamingResponse(chain.astream(question, config), media_type="text/plain")


@app.get("/mixed")
async def mixed(question: str, config: Caller) -> list[str]:
    """Two questions of one request, with something told about the second."""
    first = await CHAIN.ainvoke(f"{question}, first", config)
    second = (CHAIN | _doubtful).ainvoke(f"{question}, second", config)
    return [first, await second]


def _doubtful(answer: str) -> str:
    tell.confidence(0.5)
    return answer
