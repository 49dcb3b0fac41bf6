"""A node that is sent its passages one by one (`Send`): what its tasks let through together is one step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rag_probe.wire import encode
from rag_probe_langchain.known import known_to, narrowed, passed, union
from rag_probe_langchain.marked import decided
from rag_probe_langchain.nodes import is_sent, place_of
from rag_probe_langchain.request import StageSpan
from rag_probe_langchain.run import Ids, Mark, Run
from rag_probe_langchain.scan import Found, mapping, passages_in

_DECIDES: Final[tuple[Mark, ...]] = ("filter", "permission")


class Fan:
    """The tasks of one node at one step, each with the passages that it was sent and those that it returned."""

    def __init__(self, task: Run) -> None:
        self.task = task
        """The last that ended: each says the same of the step."""
        self.step = None if task.node is None else task.node.step
        self.started = task.started
        self.ended = 0
        self.given: dict[int, Ids] = {}
        self.kept: dict[int, Ids] = {}
        """By the place of the task, so that the order in which they end does not matter."""
        self.empty: set[str | None] = set()
        """The key under which a task returned an empty list and nothing else; None for a task that did otherwise."""
        self.told = False
        """Whether the app said itself what passed, or passages came back that nobody had sent."""


def gather(task: Run, after: Sequence[Found], outputs: object, ended: int) -> bool:
    """Take a task that was sent passages into account; False for every other run, and where it made new ones."""
    if task.node is None or task.parent is None or not is_sent(task.metadata):
        return False
    documents = task.request.documents
    given = documents.now(passages_in(task.inputs))
    if not given or (task.mark is not None and task.mark not in _DECIDES):
        return False
    fan = task.parent.fan
    if fan is None or (fan.task.name, fan.step) != (task.name, task.node.step):
        settle(task.parent)
        fan = task.parent.fan = Fan(task)
    returned = passages_in(outputs)
    if task.denied is not None or documents.news(returned):
        fan.told = True
        return False
    place = place_of(task.metadata)
    place = len(fan.given) if place is None else place
    fan.task, fan.ended = task, ended
    fan.given[place], fan.kept[place] = given, documents.now(returned)
    entries = mapping(outputs) or {}
    fan.empty.add(after[0].key if len(entries) == len(after) == 1 and not after[0].passages else None)
    return True


def settle(graph: Run) -> None:
    """All tasks have ended: say what they let through, if they show it."""
    fan, graph.fan = graph.fan, None
    if fan is None or fan.told:
        return
    given, kept = (union([sets[place] for place in sorted(sets)]) for sets in (fan.given, fan.kept))
    kept = tuple([name for name in kept if name in given])
    if not kept and (len(fan.empty) > 1 or None in fan.empty):
        return
    task, request = fan.task, graph.request
    if len(kept) < len(given) or task.mark is not None:
        mark = task.mark or "filter"
        said = encode(decided(task, mark, given, kept), request.options.policy.max_items)
        at = task if len(fan.given) == 1 else graph
        request.pending.append(StageSpan(at, said, fan.started, fan.ended))
    last = known_to(graph, request).last or given
    left = tuple([name for name in last if name in kept or name not in given])
    narrowed(graph, request, left)
    passed(graph, request, kept, given)
