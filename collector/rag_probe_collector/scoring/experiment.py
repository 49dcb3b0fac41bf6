"""Which paths are the results of one evaluation run, and which cases they leave without any."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Final, NamedTuple

from rag_probe.path import LATER_BRANCH, EvidencePath
from rag_probe_collector.errors import InputError
from rag_probe_collector.register import Case, visible

_CHOOSE: Final = "choose one with --since or --trace, and tag a new run with an experiment or repetition of its own"


class Run(NamedTuple):
    """The results of one experiment: one path per case and repetition."""

    experiment: str | None
    paths: tuple[EvidencePath, ...]
    left_out: int
    """Paths that belong to no case at all."""


def by_thread(paths: Iterable[EvidencePath], cases: AbstractSet[str]) -> Iterator[EvidencePath]:
    """Of a checkpoint without a case id, a thread id that equals a case id names the case (contracts 6).

    Not of a branch that a later one took the place of.
    """
    for path in paths:
        named = path.source == "checkpoint" and path.thread_id in cases and LATER_BRANCH not in path.warnings
        if named and path.tags.case_id is None:
            yield replace(path, tags=replace(path.tags, case_id=path.thread_id))
        else:
            yield path


def choose_run(paths: Iterable[EvidencePath], wanted: str | None, source: str) -> Run:
    """The paths of the experiment `wanted`, or of the only one there is (`""` means: tagged with none).

    Raises `InputError` with the list when it is not there, or when there are several to choose from.
    """
    tagged: dict[str, list[EvidencePath]] = {}
    left_out = 0
    for path in paths:
        if path.tags.case_id is None:
            left_out += 1
        elif wanted is None or wanted == (path.tags.experiment or ""):
            tagged.setdefault(path.tags.experiment or "", []).append(path)
        else:
            tagged.setdefault(path.tags.experiment or "", [])
    name = next(iter(tagged), "") if wanted is None else wanted
    if not tagged:
        raise InputError(f"{source}: expected results of cases, got {_none(left_out)}")
    if name not in tagged or (wanted is None and len(tagged) > 1):
        raise InputError(f"{source}: expected --experiment to be one of: {', '.join(_shown(each) for each in tagged)}")
    return Run(name or None, tuple(tagged[name]), left_out)


def check_run(run: Run, cases: Iterable[Case], source: str) -> list[tuple[Case, int | None]]:
    """The (case, repetition) pairs without a result; raises `InputError` for a second one of the same."""
    seen: dict[tuple[str | None, int | None], str] = {}
    for path in run.paths:
        pair = (path.tags.case_id, path.tags.repetition)
        if pair in seen:
            which = "" if pair[1] is None else f" repetition {pair[1]}"
            found = f"{visible(seen[pair])} and {visible(path.path_id)}"
            raise InputError(
                f"{source}: case {(pair[0] or '')[:80]!r}{which}: expected one result, got {found}; {_CHOOSE}"
            )
        seen[pair] = path.path_id
    repetitions = dict.fromkeys(repetition for _, repetition in seen) or {None: None}
    return [(case, each) for case in cases for each in repetitions if (case.id, each) not in seen]


def _none(left_out: int) -> str:
    if left_out:
        return f"{left_out} without a case id; run each question within `case(...)`"
    return "no question at all; was anything sent to it, and does the selection fit?"


def _shown(experiment: str) -> str:
    return visible(experiment) if experiment else '"" (no experiment)'
