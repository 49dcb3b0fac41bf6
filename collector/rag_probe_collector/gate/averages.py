"""Means over cases, each case's repetitions averaged first, so that no case counts twice (checklist 54, 71)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from rag_probe_collector.gate.report_json import MissingJson, SegmentJson
from rag_probe_collector.scoring.case_schema import CaseJson

Figure: TypeAlias = Callable[[CaseJson], float | None]


def mean(values: Iterable[float]) -> float | None:
    """None for none: no figure is not a perfect one."""
    known = tuple(values)
    return math.fsum(known) / len(known) if known else None


def per_case(rows: Iterable[CaseJson], figure: Figure) -> dict[str, float | None]:
    """Each case's mean over its repetitions; None where no repetition has the figure."""
    values: dict[str, list[float | None]] = {}
    for row in rows:
        values.setdefault(row["id"], []).append(figure(row))
    return {name: each[0] if len(each) == 1 else _mean_of_known(each) for name, each in values.items()}


def _mean_of_known(values: Iterable[float | None]) -> float | None:
    return mean([value for value in values if value is not None])


def gated_recall(row: CaseJson) -> float | None:
    """What the minimum is asked of."""
    return row["gated_recall"] if row["answerable"] else None


def segments(rows: Sequence[CaseJson], missing: Sequence[MissingJson]) -> dict[str, SegmentJson]:
    """Per segment in the order of first sight. A case without any result counts as recall 0 (must-handle 23)."""
    found: dict[str, SegmentJson] = {}
    answered = {row["id"] for row in rows}
    absent = {each["id"]: each for each in missing if each["id"] not in answered}
    for name in dict.fromkeys([row["segment"] for row in rows] + [each["segment"] for each in absent.values()]):
        mine = [row for row in rows if row["segment"] == name]
        lost = [each for each in absent.values() if each["segment"] == name]
        lost_answerable = sum(each["answerable"] for each in lost)
        recalls = [value for value in per_case(mine, gated_recall).values() if value is not None]
        found[name] = {
            "cases": len({row["id"] for row in mine}) + len(lost),
            "answerable_cases": len({row["id"] for row in mine if row["answerable"]}) + lost_answerable,
            "mean_evidence_recall": mean([*recalls, *[0.0] * lost_answerable]),
        }
    return found
