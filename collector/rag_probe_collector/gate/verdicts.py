"""The gate's word on one case: incomplete, fail, pending or pass, and why."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from rag_probe_collector.gate.report_json import Verdict
from rag_probe_collector.gate.waivers import Waivers
from rag_probe_collector.register import VIOLATIONS
from rag_probe_collector.scoring.beside import FAILING
from rag_probe_collector.scoring.case_schema import CaseJson


class Word(NamedTuple):
    """A verdict, what it rests on, and the violations that an exception excused."""

    verdict: Verdict
    why: tuple[str, ...] = ()
    waived: tuple[str, ...] = ()


def judge(case: CaseJson, waivers: Waivers) -> Word:
    """Any violation fails; one that rests on an inferred value waits for a person, unless the thresholds differ."""
    gaps = [name for name in case["not_captured"] if name not in waivers.thresholds.accept_not_captured]
    names = list(_wrong(case))
    waived = tuple(name for name in names if waivers.excuse(case["id"], name))
    left = [name for name in names if name not in waived]
    waiting = [name for name in left if _waits(case, name, waivers)]
    failing = [name for name in left if name not in waiting]
    if gaps:
        return Word("incomplete", tuple(f"{name} was not captured" for name in gaps), waived)
    if failing:
        return Word("fail", tuple(failing), waived)
    if waiting:
        return Word("pending", tuple(_waiting(name) for name in waiting), waived)
    return Word("pass", (), waived)


def _wrong(case: CaseJson) -> Iterator[str]:
    yield from (name for name in VIOLATIONS if name in case["violations"])
    yield from dict.fromkeys(each["finding"] for each in case["findings"] if each["finding"] in FAILING)


def _waits(case: CaseJson, name: str, waivers: Waivers) -> bool:
    """Whether it needs a person: a missing review, or a violation none of whose findings was observed."""
    if name == "review_pending":
        return True
    if waivers.thresholds.inferred == "fail":
        return False
    found = [each for each in case["findings"] if each["finding"] == name]
    return bool(found) and all(each["inferred"] for each in found)


def _waiting(name: str) -> str:
    return name if name == "review_pending" else f"{name} (inferred)"
