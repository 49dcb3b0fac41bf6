"""What the callback itself costs, repeatably: the recorded callbacks of one request, played to each handler in turn.

Recorded are the real calls that LangChain and LangGraph make for one request of each app, with every object that they
pass. Each replay has run ids, lists, dicts, Documents and texts of its own, made before the clock starts, so that
nothing is recognised from the last one; what was one object in the request is one object in the replay. The events go
through LangChain's own `handle_event`, and what that costs without a handler is taken off.

All variants run in one process, in shuffled order. Between any two callbacks some of LangChain's own code runs off the
clock, as it does in life: back to back, the limit would write warm spans, which no handler can. Counted is the CPU of
the thread; given is the first decile, since a shared machine has several speeds and this is the one without neighbours.
"""

from __future__ import annotations

import random
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias
from uuid import UUID, uuid4

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.callbacks.manager import handle_event
from langchain_core.documents import Document
from opentelemetry.sdk.trace import TracerProvider

from tests.benchmarks.apps import APPS, PROMPT
from tests.benchmarks.limit import EVENTS, Least
from tests.benchmarks.report import Ratio, table
from tests.benchmarks.variants import new_provider, variants

ROUNDS: Final = 300
_WARM_UP: Final = 50
_BETWEEN: Final = {"context": "The sale ends on Friday.", "question": "When?"}
_IGNORE: Final = {"chain": "ignore_chain", "retriever": "ignore_retriever", "tool": "ignore_agent"}


Compared: TypeAlias = Callable[
    [Callable[[list[Any]], object], TracerProvider], Mapping[str, BaseCallbackHandler | None]
]
"""From an app and a provider to the handlers that are compared, by name; `nothing` is None."""


class Event(NamedTuple):
    """One callback as LangChain makes it."""

    name: str
    ignore: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


class Recorder(BaseCallbackHandler):
    """Notes every callback that it hears, with the very objects."""

    run_inline = True

    def __init__(self) -> None:
        self.events: list[Event] = []


def _noting(name: str) -> Callable[..., None]:
    ignore = _IGNORE.get(name.split("_")[1], "ignore_llm" if "llm" in name else "ignore_chat_model")

    def note(self: Recorder, *args: Any, **kwargs: Any) -> None:
        self.events.append(Event(name, ignore, args, kwargs))

    return note


for _event in EVENTS:
    setattr(Recorder, _event, _noting(_event))


def recorded_events(app: Callable[[list[Any]], object]) -> list[Event]:
    """The callbacks of one request, in their order."""
    recorder = Recorder()
    app([recorder])
    return recorder.events


class _Copies:
    """The objects of one replay, by those of the recorded request."""

    def __init__(self) -> None:
        self._known: dict[int, Any] = {}
        self._ids: dict[UUID, UUID] = {}

    def of(self, value: Any) -> Any:
        """A copy of containers, Documents and long texts; the rest is left as it is."""
        if isinstance(value, UUID):
            return self._ids.setdefault(value, uuid4())
        if id(value) not in self._known:
            self._known[id(value)] = self._made(value)
        return self._known[id(value)]

    def _made(self, value: Any) -> Any:
        kind = type(value)
        if issubclass(kind, dict):
            return kind({key: self.of(entry) for key, entry in value.items()})
        if kind in (list, tuple):
            return kind([self.of(item) for item in value])
        if kind is Document:
            return Document(id=value.id, page_content=self.of(value.page_content), metadata=self.of(value.metadata))
        return (value + " ")[:-1] if kind is str and len(value) > 100 else value


def fresh(events: Sequence[Event]) -> list[Event]:
    """The same request once more, as another one."""
    copies = _Copies()
    return [Event(each.name, each.ignore, copies.of(each.args), copies.of(each.kwargs)) for each in events]


def play(events: Sequence[Event], handlers: list[BaseCallbackHandler]) -> int:
    """Make the callbacks; returns the CPU that this thread took for them, in nanoseconds."""
    spent = 0
    for name, ignore, args, kwargs in events:
        PROMPT.invoke(_BETWEEN)
        before = time.thread_time_ns()
        handle_event(handlers, name, ignore, *args, **kwargs)
        spent += time.thread_time_ns() - before
    return spent


def measured(rounds: int = ROUNDS, compared: Compared = variants) -> dict[tuple[str, str], float]:
    """What each variant adds to a request of each app, in microseconds."""
    provider = new_provider()
    apps = {name: make() for name, make in APPS.items()}
    events = {name: recorded_events(app) for name, app in apps.items()}
    handlers = {name: compared(app, provider) for name, app in apps.items()}
    order = [(name, variant) for name in apps for variant in handlers[name]]
    spent: dict[tuple[str, str], list[int]] = {each: [] for each in order}
    shuffle = random.Random(1).shuffle
    for _ in range(_WARM_UP + rounds):
        shuffle(order)
        for name, variant in order:
            handler = handlers[name][variant]
            if isinstance(handler, Least):
                handler.fresh()
            made = fresh(events[name])
            spent[name, variant].append(play(made, [] if handler is None else [handler]))
    provider.shutdown()
    deciles = {each: statistics.quantiles(times[_WARM_UP:], n=10)[0] for each, times in spent.items()}
    return {
        (name, variant): (deciles[name, variant] - deciles[name, "nothing"]) / 1000
        for name, variant in deciles
        if variant != "nothing"
    }


def run(rounds: int = ROUNDS) -> list[Ratio]:
    """CPU against the limit and, where it is installed, the official handler."""
    micros = measured(rounds)
    found: list[Ratio] = []
    for app in APPS:
        ours = micros[app, "ours"]
        found.append(Ratio(f"replay, {app}: CPU added", ours, micros[app, "least"], "µs", "beside the limit"))
        if (app, "official") in micros:
            theirs = "beside the official handler, without its instrumentor"
            found.append(Ratio(f"replay, {app}: CPU added", ours, micros[app, "official"], "µs", theirs))
    return found


if __name__ == "__main__":
    print(table(run(int(sys.argv[1]) if sys.argv[1:] else ROUNDS)))
