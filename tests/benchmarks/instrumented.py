"""What whole instrumentors add to a request, in CPU of the process: ours, and the others that are installed.

An instrumentor patches for good, so each stands in a process of its own, where the app runs without it first; one
process after the other, several times around. Beside the handlers that `handler` compares, this counts what is wrapped
around every body, and what the others write of messages by default.
"""

from __future__ import annotations

import multiprocessing
import statistics
import time
from collections.abc import Callable
from typing import Any, Final

from opentelemetry.sdk.trace import TracerProvider

from rag_probe_langchain import RagProbeInstrumentor
from rag_probe_langgraph import RagProbeGraphInstrumentor
from tests.benchmarks.apps import APPS
from tests.benchmarks.report import Ratio, table
from tests.benchmarks.variants import new_provider
from tests.scenarios.beside.program import SCOPES, instrument

OURS: Final = "ours"
_OTHERS: Final = tuple(SCOPES.values())
ROUNDS: Final = 150
PROCESSES: Final = 3
_WARM_UP: Final = 30
_PAUSE: Final = 0.002
"""So that what the exporter's thread does is counted."""


def _instrument(who: str, provider: TracerProvider) -> None:
    if who == OURS:
        RagProbeInstrumentor().instrument(tracer_provider=provider)
        RagProbeGraphInstrumentor().instrument(tracer_provider=provider)
    else:
        instrument(who, provider)


def one_process(who: str, rounds: int) -> dict[str, float] | None:
    """What `who` adds to a request of each app, in microseconds; None where it is not installed."""
    provider = new_provider()
    apps = {name: make() for name, make in APPS.items()}
    bare = {name: _typical(app, rounds) for name, app in apps.items()}
    try:
        _instrument(who, provider)
    except ImportError:
        return None
    added = {name: 1e6 * (_typical(app, rounds) - bare[name]) for name, app in apps.items()}
    provider.shutdown()
    return added


def _typical(app: Callable[[list[Any]], object], rounds: int) -> float:
    spent: list[float] = []
    for _ in range(_WARM_UP + rounds):
        before = time.process_time()
        app([])
        time.sleep(_PAUSE)
        spent.append(time.process_time() - before)
    return statistics.median(spent[_WARM_UP:])


def run(processes: int = PROCESSES, rounds: int = ROUNDS) -> list[Ratio]:
    """Our instrumentor beside each of the others."""
    context = multiprocessing.get_context("spawn")
    found: dict[str, list[dict[str, float]]] = {}
    for _ in range(processes):
        for who in (OURS, *_OTHERS):
            with context.Pool(1) as pool:
                added = pool.apply(one_process, (who, rounds))
            if added is not None:
                found.setdefault(who, []).append(added)
    micros = {who: {app: statistics.fmean(each[app] for each in runs) for app in APPS} for who, runs in found.items()}
    return [
        Ratio(f"{app}: instrumentor", micros[OURS][app], theirs[app], "µs", f"beside {who}")
        for app in APPS
        for who, theirs in micros.items()
        if who != OURS
    ]


if __name__ == "__main__":
    print(table(run()))
