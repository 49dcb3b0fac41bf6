"""100,000 requests, a tenth of them broken off: cancelled, failed, or streams that nobody reads to their end.

Nothing may be left open, and memory may not grow. Printed are the runs that are still open at the end, and the resident
memory at the end beside that after the first tenth, when every bounded map and every allocator has had its fill.
"""

from __future__ import annotations

import asyncio
import gc
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from langchain_core.language_models import FakeListChatModel
from langchain_core.output_parsers import StrOutputParser
from langchain_core.runnables import RunnableLambda

from rag_probe.policy import CapturePolicy
from rag_probe_langchain import RagProbeCallbackHandler, runs
from tests.benchmarks.apps import as_text, question, search
from tests.benchmarks.report import Ratio, table
from tests.benchmarks.variants import new_provider

REQUESTS: Final = 100_000
_BROKEN: Final = 10
"""One in so many."""
_BATCH: Final = 1_000


class BrokenError(Exception):
    """What a step of the app raises."""


def _fail(_: object) -> str:
    raise BrokenError


async def _wait(_: object) -> str:
    waiting = asyncio.current_task()
    assert waiting is not None
    waiting.cancel()
    await asyncio.sleep(1)
    raise AssertionError("cancelled before")


class Soak:
    """Sends requests, every tenth of which does not come to its end."""

    def __init__(self, handler: RagProbeCallbackHandler) -> None:
        config: Any = {"callbacks": [handler]}
        found, model = search(5), FakeListChatModel(responses=["Within thirty days [1]."])
        self._whole: Any = (found | as_text | model | StrOutputParser()).with_config(config)
        self._failing: Any = (found | as_text | RunnableLambda(_fail)).with_config(config)
        self._waiting: Any = (found | RunnableLambda(_fail, afunc=_wait)).with_config(config)
        self._kept: list[Iterator[str]] = []
        self._ways: Final[tuple[Callable[[], None], ...]] = (self._fails, self._cancels, self._closes, self._drops)

    def send(self, count: int) -> None:
        """That many requests; streams that were dropped are left to the garbage collector."""
        for number in range(count):
            if number % _BROKEN:
                self._whole.invoke(question())
            else:
                self._ways[number // _BROKEN % len(self._ways)]()
        self._kept.clear()
        gc.collect()

    def _fails(self) -> None:
        try:
            self._failing.invoke(question())
        except BrokenError:
            return

    def _cancels(self) -> None:
        async def cancelled() -> None:
            await asyncio.gather(self._waiting.ainvoke(question()), return_exceptions=True)

        asyncio.run(cancelled())

    def _closes(self) -> None:
        stream = self._whole.stream(question())
        next(stream)
        stream.close()

    def _drops(self) -> None:
        stream = self._whole.stream(question())
        next(stream)
        self._kept.append(stream)


def resident() -> int:
    """Resident memory of this process in bytes; 0 where the system does not say."""
    statm = Path("/proc/self/statm")
    return int(statm.read_text().split()[1]) * 4096 if statm.exists() else 0


def run(requests: int = REQUESTS) -> list[Ratio]:
    """Open runs and memory after so many requests."""
    provider = new_provider()
    soak = Soak(RagProbeCallbackHandler(tracer_provider=provider, policy=CapturePolicy()))
    sent = first = 0
    while sent < requests:
        soak.send(min(_BATCH, requests - sent))
        sent += _BATCH
        if not first and sent >= requests / 10:
            first = resident()
    provider.shutdown()
    return [
        Ratio(f"soak, {requests:,} requests: runs left open", len(runs.OPEN), 1, "runs", "none may be"),
        Ratio("soak: memory at the end", resident() / 1e6, first / 1e6, "MB", "beside that after a tenth of them"),
    ]


if __name__ == "__main__":
    print(table(run(int(sys.argv[1]) if sys.argv[1:] else REQUESTS)))
