"""Parts → questions: all of one `case()` block, and of a turn that paused or failed and went on (contracts 1)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from rag_probe.stages import Node
from rag_probe_collector.assembly.parts import Part
from rag_probe_collector.assembly.union import Union
from rag_probe_collector.dialects import OWN


@dataclass(frozen=True, slots=True)
class Question:
    """One question: its parts, oldest first."""

    parts: tuple[Part, ...]


def questions_of(parts: Sequence[Part]) -> list[Question]:
    """Join parts that belong together; questions come oldest first."""
    if len(parts) == 1:
        return [Question((parts[0],))]
    union = Union(len(parts))
    _join_cases(parts, union)
    _join_links(parts, union)
    _join_tasks(parts, union)
    _join_pauses(parts, union)
    joined = [Question(_in_order([parts[index] for index in group])) for group in union.groups()]
    return sorted(joined, key=lambda question: _age(question.parts[0]))


def goes_on(parts: Sequence[Part]) -> bool:
    """Whether the first part says that it goes on with an earlier one, by its checkpoint, a link or in so many words.

    That one is then in another source, or it was never recorded, or it has gone on already and this is a fork of it.
    """
    first = parts[0]
    here = {part.trace_id for part in parts}
    linked = first.dialect is OWN and any(link.trace_id not in here for link in first.top.links)
    return first.root.resumed_at is not None or first.root.resumed is True or linked


def _in_order(parts: Sequence[Part]) -> tuple[Part, ...]:
    """By their clocks; but what links to another part came after it, whatever the clock of its process says."""
    aged = sorted(parts, key=_age)
    if not any(part.top.links for part in aged):
        return tuple(aged)
    place = {(part.trace_id, seen.span.span_id): number for number, part in enumerate(aged) for seen in part.seen}
    found: dict[int, Part] = {}
    for number in range(len(aged)):
        chain: dict[int, None] = {}
        at: int | None = number
        while at is not None and at not in found and at not in chain:
            chain[at] = None
            links = aged[at].top.links
            at = next(
                (known for link in links if (known := place.get((link.trace_id, link.span_id))) is not None), None
            )
        found |= {each: aged[each] for each in reversed(chain)}
    return tuple(found.values())


def _age(part: Part) -> tuple[int, str, str]:
    return part.top.start, part.trace_id, part.top.span_id


def _join_cases(parts: Sequence[Part], union: Union) -> None:
    _join_equal(union, ((index, _case(part)) for index, part in enumerate(parts)))


def _case(part: Part) -> Hashable | None:
    tags = part.root.tags
    return (tags.case_run, tags.case_id) if tags.case_run is not None else None


def _join_equal(union: Union, keyed: Iterable[tuple[int, Hashable | None]]) -> None:
    first: dict[Hashable, int] = {}
    for index, key in keyed:
        if key is not None:
            union.join(first.setdefault(key, index), index)


def _join_links(parts: Sequence[Part], union: Union) -> None:
    """A handler links only a resumed run to its paused one; a link between two threads or cases is somebody else's."""
    linked = [(index, link) for index, part in enumerate(parts) for seen in part.seen for link in seen.span.links]
    if not linked:
        return
    owner = {(part.trace_id, seen.span.span_id): index for index, part in enumerate(parts) for seen in part.seen}
    for index, link in linked:
        other = owner.get((link.trace_id, link.span_id))
        if other is not None and _agree(parts[index], parts[other]):
            union.join(index, other)


def _agree(one: Part, other: Part) -> bool:
    threads = {one.root.thread_id, other.root.thread_id} - {None}
    cases = {one.root.tags.case_id, other.root.tags.case_id} - {None}
    return len(threads) <= 1 and len(cases) <= 1


def _join_tasks(parts: Sequence[Part], union: Union) -> None:
    """A task keeps its id over interrupt and resume, and over a failure and the run that goes on from there.

    One that ended well and is seen again is a replay of its own.
    """
    seen: dict[Hashable, dict[int, str | None]] = {}
    for index in sorted(range(len(parts)), key=lambda index: _age(parts[index])):
        for key, outcome in _tasks(parts[index]):
            seen.setdefault(key, {})[index] = outcome
    for runs in seen.values():
        paused = "interrupted" in runs.values()
        for (index, outcome), (following, _) in pairwise(runs.items()):
            if paused or outcome == "error":
                union.join(index, following)


def _join_pauses(parts: Sequence[Part], union: Union) -> None:
    """A graph goes on from the checkpoint at which it stopped; who goes on from there once more, asks anew (a fork)."""
    waiting: dict[Hashable, int] = {}
    for index in sorted(range(len(parts)), key=lambda index: _age(parts[index])):
        root = parts[index].root
        paused = waiting.pop((root.thread_id, root.resumed_at), None) if root.resumed_at is not None else None
        if paused is not None:
            union.join(paused, index)
        if root.thread_id is not None and root.paused_at is not None:
            waiting[root.thread_id, root.paused_at] = index


def _tasks(part: Part) -> Iterable[tuple[Hashable, str | None]]:
    thread = part.root.thread_id
    if thread is None:
        return
    for seen in part.seen:
        if isinstance(seen.reading, Node) and seen.reading.task_id is not None:
            yield (thread, seen.reading.task_id), seen.reading.outcome
