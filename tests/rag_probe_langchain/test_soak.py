"""Thousands of requests, a tenth broken off, leave nothing behind; callbacks of async runs stay on their thread
(issue B "Speed", must-handle 5, 7, 8, 16).
"""

from __future__ import annotations

import asyncio
import sys
import threading

from opentelemetry.sdk.trace import TracerProvider

from rag_probe_langchain import RagProbeCallbackHandler, pauses, runs
from tests.benchmarks.soak import Soak
from tests.rag_probe_langchain.apps import ANSWER, Scripted, Search, as_text, passages
from tests.rag_probe_langchain.recorded import Recorder

_GROWTH = 5_000
"""Blocks of memory: what a dozen requests that are kept would take, of the 800 sent."""


def test_requests_that_break_off_leave_nothing_behind():
    soak = Soak(RagProbeCallbackHandler(tracer_provider=TracerProvider()))
    soak.send(200)
    before, paused = sys.getallocatedblocks(), len(pauses._pauses)
    soak.send(800)
    assert sys.getallocatedblocks() - before < _GROWTH
    assert not runs.OPEN
    assert not runs._roots
    assert len(pauses._pauses) == paused


class _Threads(RagProbeCallbackHandler):
    """Notes the threads in which it is called."""

    def __init__(self, **options):
        super().__init__(**options)
        self.seen = set()

    def __getattribute__(self, name):
        if name.startswith("on_"):
            object.__getattribute__(self, "seen").add(threading.get_ident())
        return super().__getattribute__(name)


async def test_callbacks_of_async_runs_stay_on_the_loops_thread():
    recorder = Recorder(_Threads)
    model = Scripted(answers=[ANSWER])

    async def build(found):
        return as_text(found)

    chain = Search(found=passages()) | build | model
    assert recorder.handler.run_inline
    for event in ("on_chain_start", "on_chat_model_start", "on_llm_end"):
        assert not asyncio.iscoroutinefunction(getattr(recorder.handler, event))
    recorder.handler.seen.clear()
    await chain.ainvoke("How long do I have?", recorder.config)
    assert recorder.handler.seen == {threading.get_ident()}
    assert recorder.named("chat")
