"""A graph's nodes: one entry per task, over interrupt, resume and retry (contracts 2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from rag_probe.path import Step
from rag_probe.stages import Node, NodeOutcome
from rag_probe_collector.assembly.record import Ran

_ENTRY: Final = "__start__"
_DONE: Final = frozenset({"ok", "no_write"})


def nodes(ran: Sequence[Ran[Node]]) -> tuple[Step[Node], ...]:
    """In the order of their first start; a node without a task id is an entry of its own."""
    tasks: dict[object, list[Ran[Node]]] = {}
    for one in ran:
        if one.stage.name != _ENTRY:
            task = one.stage.task_id
            tasks.setdefault((task, one.stage.name) if task is not None else id(one), []).append(one)
    return tuple([_merged(runs) for runs in tasks.values()])


def _merged(runs: Sequence[Ran[Node]]) -> Step[Node]:
    """What the last run says; its time is that of all runs, without the pause between them."""
    last = runs[-1]
    if len(runs) == 1:
        return Step(last.stage, last.span.latency_ms, last.span.error)
    times = [one.span.latency_ms for one in runs]
    known = [time for time in times if time is not None]
    outcome = _outcome([one.stage.outcome for one in runs])
    return Step(replace(last.stage, outcome=outcome), sum(known) if known else None, last.span.error)


def _outcome(outcomes: Sequence[NodeOutcome | None]) -> NodeOutcome | None:
    """A task that ended well after it had asked was answered; one that ended well after it had failed has recovered."""
    last = outcomes[-1]
    if last not in _DONE:
        return last
    if "interrupted" in outcomes:
        return "answered"
    return "recovered" if "error" in outcomes else last
