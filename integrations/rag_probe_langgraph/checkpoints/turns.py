"""Checkpoints → turns: one question each, from the input that began it to the last checkpoint that came of it.

Along parents, never by step: after a fork or a travel in time a step number means nothing. What was forked gives a turn
for each branch, which share their beginning.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from rag_probe_langgraph.checkpoints.saved import Saved, entries


class Inner(NamedTuple):
    """Checkpoints of subgraphs, oldest first."""

    of_task: Mapping[str, Sequence[Saved]]
    """By namespace: the task that ran the subgraph stands in it."""
    kept: Mapping[tuple[str, str, str], Sequence[Saved]]
    """Of those with a memory of their own, whose namespace all turns share: by it, and what is above."""


class Turn(NamedTuple):
    """The checkpoints of one branch of one question, oldest first."""

    saved: tuple[Saved, ...]
    inner: Inner
    """Those of the subgraphs of its thread."""
    whole: bool
    """Whether it begins at an input; a pruned or sparse history may not."""
    before: Saved | None = None
    """Where the thread stood before, if that is kept."""
    later: bool = False
    """Whether another branch of the same question was written later."""


def turns_of(saved: Iterable[Saved]) -> list[Turn]:
    """The turns of one thread, in the order in which they ended."""
    outer: dict[str, Saved] = {}
    within: list[Saved] = []
    for one in saved:
        if one.namespace:
            within.append(one)
        else:
            outer[one.id] = one
    inner = _inner(within)
    for one in _closing(outer):
        one.parent = None
    above = [_above(one, outer) for one in outer.values()]
    continued = {one.id for one in above if one is not None}
    ends = [one for one in outer.values() if one.id not in continued]
    turns = [_turn(end, outer, inner) for end in sorted(ends, key=lambda end: end.id) if _is_one(end, outer)]
    latest = {turn.saved[0].id: turn.saved[-1].id for turn in turns}
    return [turn._replace(later=latest[turn.saved[0].id] != turn.saved[-1].id) for turn in turns]


def _inner(saved: Iterable[Saved]) -> Inner:
    of_task: dict[str, list[Saved]] = {}
    kept: dict[tuple[str, str, str], list[Saved]] = {}
    for one in saved:
        of_task.setdefault(one.namespace, []).append(one)
        if ":" not in one.namespace.rpartition("|")[2]:
            for outer, above in entries(one.metadata.get("parents")).items():
                kept.setdefault((one.namespace, outer, str(above)), []).append(one)
    return Inner(of_task, kept)


def _turn(end: Saved, outer: Mapping[str, Saved], inner: Inner) -> Turn:
    chain = [end]
    while (above := _above(chain[-1], outer)) is not None:
        chain.append(above)
    first = chain[-1]
    before = None if first.parent is None else outer.get(first.parent)
    return Turn(tuple(reversed(chain)), inner, whole=first.source == "input", before=before)


def _is_one(end: Saved, outer: Mapping[str, Saved]) -> bool:
    """A lone checkpoint tells of a question if it is its input, or a task ran; an edit of an empty thread does not."""
    return bool(end.writes) or end.source in ("input", "loop") or _above(end, outer) is not None


def _above(one: Saved, outer: Mapping[str, Saved]) -> Saved | None:
    """The checkpoint of the same turn that it came of, if it is kept: an input begins a turn."""
    parent = None if one.source == "input" or one.parent is None else outer.get(one.parent)
    return None if parent is None or _is_gap(parent, one) else parent


def _closing(outer: Mapping[str, Saved]) -> list[Saved]:
    """Those by which a chain would come back to where it began, which is damage.

    Ids rise with time, but for clocks that disagree: another process may have gone on with what one had begun.
    """
    if all(one.parent is None or one.parent < one.id for one in outer.values()):
        return []
    found: list[Saved] = []
    known: set[str] = set()
    for one in outer.values():
        walked: set[str] = set()
        at: Saved | None = one
        while at is not None and at.id not in known:
            known.add(at.id)
            walked.add(at.id)
            above = _above(at, outer)
            if above is not None and above.id in walked:
                found.append(at)
            at = above
    return found


def _is_gap(above: Saved, below: Saved) -> bool:
    """Whether checkpoints between the two were never written, as with `durability="exit"`."""
    return above.step is not None and below.step is not None and below.step > above.step + 1
