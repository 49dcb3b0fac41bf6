"""Which paths are the results of one evaluation run, and which cases they leave without any."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from rag_probe.path import EvidencePath
from rag_probe_collector.errors import InputError
from rag_probe_collector.register import Case, visible


class Run(NamedTuple):
    """The results of one experiment: one path per case and repetition."""

    experiment: str | None
    paths: tuple[EvidencePath, ...]
    left_out: int
    """Paths that belong to no case at all."""


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
        raise InputError(f"{source}: expected results of cases, got none ({left_out} paths carry no case id)")
    if name not in tagged or (wanted is None and len(tagged) > 1):
        raise InputError(f"{source}: expected --experiment to be one of: {', '.join(_shown(each) for each in tagged)}")
    return Run(name or None, tuple(tagged[name]), left_out)


def check_run(run: Run, cases: Iterable[Case], known: Iterable[str], source: str) -> list[tuple[Case, int | None]]:
    """The (case, repetition) pairs without a result; raises `InputError` for an extra or duplicate one.

    `known` are all case ids of the register, of which `cases` may be a split.
    """
    ids = frozenset(known)
    seen: dict[tuple[str, int | None], str] = {}
    for path in run.paths:
        case_id, repetition = path.tags.case_id or "", path.tags.repetition
        if case_id not in ids:
            raise InputError(
                f"{source}: {visible(path.path_id)}: expected a case of the register, got {case_id[:80]!r}"
            )
        if (case_id, repetition) in seen:
            which = "" if repetition is None else f" repetition {repetition}"
            first = visible(seen[case_id, repetition])
            raise InputError(
                f"{source}: case {case_id[:80]!r}{which}: expected one result, got {first} and {visible(path.path_id)}"
            )
        seen[case_id, repetition] = path.path_id
    repetitions = dict.fromkeys(repetition for _, repetition in seen)
    return [(case, each) for case in cases for each in repetitions or (None,) if (case.id, each) not in seen]


def _shown(experiment: str) -> str:
    return visible(experiment) if experiment else '"" (no experiment)'
