"""What the callback adds to a request, in CPU of the whole process, beside the least that any handler could cost.

All variants run in one process, interleaved in shuffled order; after each request the process sleeps for 2 ms, so that
what pool and exporter threads do is counted; the slowest 5% are dropped; several processes are pooled. The limit is an
inline handler that does nothing but write as many SDK spans with the same attributes, spread over its callbacks.
"""

from __future__ import annotations

import multiprocessing
import random
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from langchain_core.callbacks import BaseCallbackHandler
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans

from tests.benchmarks.apps import APPS
from tests.benchmarks.limit import Least
from tests.benchmarks.report import Ratio, table
from tests.benchmarks.variants import new_provider, recorded, variants

ROUNDS: Final = 150
PROCESSES: Final = 3
_WARM_UP: Final = 30
_SLOWEST: Final = 0.05
_PAUSE: Final = 0.002


class Added(NamedTuple):
    """CPU that one variant adds to a request of one app, in microseconds, in one process."""

    app: str
    variant: str
    micros: float


def one_process(seed: int, rounds: int = ROUNDS) -> list[Added]:
    """All apps and variants, interleaved, in this process."""
    provider = new_provider()
    apps = {name: make() for name, make in APPS.items()}
    handlers = {name: variants(app, provider) for name, app in apps.items()}
    order = [(name, variant) for name in apps for variant in handlers[name]]
    spent: dict[tuple[str, str], list[float]] = {each: [] for each in order}
    shuffle = random.Random(seed).shuffle
    for _ in range(_WARM_UP + rounds):
        shuffle(order)
        for name, variant in order:
            spent[name, variant].append(_request(apps[name], handlers[name][variant]))
    provider.shutdown()
    means = {each: _mean(times[_WARM_UP:]) for each, times in spent.items()}
    return [
        Added(name, variant, 1e6 * (means[name, variant] - means[name, "nothing"]))
        for name, variant in spent
        if variant != "nothing"
    ]


def _request(app: Callable[[list[Any]], object], handler: BaseCallbackHandler | None) -> float:
    if isinstance(handler, Least):
        handler.fresh()
    callbacks = [] if handler is None else [handler]
    before = time.process_time()
    app(callbacks)
    time.sleep(_PAUSE)
    return time.process_time() - before


def _mean(times: Sequence[float]) -> float:
    kept = sorted(times)[: max(1, round(len(times) * (1 - _SLOWEST)))]
    return statistics.fmean(kept)


def pooled(processes: int = PROCESSES, rounds: int = ROUNDS) -> dict[tuple[str, str], float]:
    """The mean over several processes, by app and variant, in microseconds."""
    context = multiprocessing.get_context("spawn")
    results: list[Added] = []
    for seed in range(processes):  # one after the other: they would disturb each other
        with context.Pool(1) as pool:
            results += pool.apply(one_process, (seed, rounds))
    keys = dict.fromkeys((each.app, each.variant) for each in results)
    return {key: statistics.fmean(each.micros for each in results if (each.app, each.variant) == key) for key in keys}


def size(app: Callable[[list[Any]], object], *, content: bool) -> int:
    """Bytes of one request on the wire: OTLP protobuf, uncompressed."""
    return len(encode_spans(recorded(app, content=content)).SerializeToString())


def run() -> list[Ratio]:
    """CPU against the limit and, where it is installed, the official handler; bytes against their bounds."""
    micros = pooled()
    found: list[Ratio] = []
    for app in APPS:
        ours = micros[app, "ours"]
        least = "spans of the same content, written by a handler that looks at nothing"
        found.append(Ratio(f"handler, {app}: CPU added", ours, micros[app, "least"], "µs", least))
        if (app, "official") in micros:
            theirs = "the official LangChain handler, without its instrumentor"
            found.append(Ratio(f"handler, {app}: beside official", ours, micros[app, "official"], "µs", theirs))
    for name, make in APPS.items():
        found.append(Ratio(f"handler, {name}: size", size(make(), content=False), 10_240, "bytes", "content off"))
    return found


if __name__ == "__main__":
    print(table(run()))
