"""The pipeline of one case as a strip of steps, so that the eye finds the broken one."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple, TypeAlias

from rag_probe_collector.gate.report_json import GatedCase

State: TypeAlias = Literal["ok", "broken", "after", "absent"]

STEPS: Final = ("retrieval", "filter", "permission", "context", "answer", "citation")
_FIELD: Final = {
    "retrieval": "retrieved",
    "filter": "filtered",
    "permission": "permitted",
    "context": "context",
    "citation": "cited",
}
_SHOWN_AT: Final = {
    "rerank": "retrieval",
    "abstention": "answer",
    "generation": "answer",
    "error": "answer",
    "routing": "answer",
    "validation": "answer",
}
_ACCESS: Final = {"foreign_in_context": "context", "foreign_cited": "citation"}


class Step(NamedTuple):
    """A step of the strip: `after` the broken one nothing is its fault, `absent` was not recorded."""

    name: str
    state: State
    size: int | None
    """How many passages it let through."""


def strip(case: GatedCase) -> list[Step]:
    """Every step in pipeline order."""
    broken = _broken_step(case)
    at = STEPS.index(broken) if broken in STEPS else len(STEPS)
    return [_step(name, place, at, case) for place, name in enumerate(STEPS)]


def _step(name: str, place: int, broken: int, case: GatedCase) -> Step:
    ids = case["evidence"].get(_FIELD.get(name, ""))
    recorded = ids is not None if name in _FIELD else case["outcome"] is not None
    size = None if ids is None else len(ids)
    if place == broken:
        return Step(name, "broken", size)
    if not recorded:
        return Step(name, "absent", size)
    return Step(name, "ok" if place < broken else "after", size)


def _broken_step(case: GatedCase) -> str:
    stage = case["broken_stage"]
    if stage == "access":
        return _ACCESS.get(case["mechanism"] or "", "retrieval")
    return _SHOWN_AT.get(stage, stage)
