"""The faults that the demo planted, beside what the report says of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from pydantic import TypeAdapter
from rich.table import Table

BEFORE_THE_MODEL: Final = frozenset({"access", "retrieval", "filter", "permission", "context"})
"""Stages whose planted faults stay, whichever model answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What was planted in a case: the one stage that it breaks."""

    stage: str = "none"
    mechanism: str | None = None
    violations: tuple[str, ...] = ()
    why: str = "Nothing is planted."


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What the report says of a case."""

    id: str
    broken_stage: str
    mechanism: str | None = None
    violations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Report:
    cases: tuple[Row, ...]


class Verdict(NamedTuple):
    """One case; `right` is None when it is the model's to decide."""

    fault: Fault
    row: Row
    right: bool | None


def compare(planted: Path, report: Path, *, real_model: bool) -> list[Verdict]:
    """The cases in the report's order; a case with nothing planted must be without any finding."""
    faults = TypeAdapter(dict[str, Fault]).validate_json(planted.read_bytes())
    rows = TypeAdapter(_Report).validate_json(report.read_bytes()).cases
    return [_verdict(faults.get(row.id, Fault()), row, real_model) for row in rows]


def table(verdicts: Sequence[Verdict]) -> Table:
    """A line for each case, and the count of those that were found."""
    drawn = Table(title="Planted and found", title_justify="left", caption=_caption(verdicts), caption_justify="left")
    for heading in ("case", "planted in", "found in", "by", "", "why"):
        drawn.add_column(heading)
    for fault, row, right in verdicts:
        drawn.add_row(row.id, fault.stage, row.broken_stage, row.mechanism or "", _MARKS[right], fault.why)
    return drawn


_MARKS: Final = {True: "[green]✓[/]", False: "[red]✗[/]", None: "?"}


def _verdict(fault: Fault, row: Row, real_model: bool) -> Verdict:
    if real_model and fault.stage not in BEFORE_THE_MODEL:
        return Verdict(fault, row, None)
    clean = fault.stage != "none" or row.violations == fault.violations
    return Verdict(fault, row, row.broken_stage == fault.stage and clean)


def _caption(verdicts: Sequence[Verdict]) -> str:
    asked = [verdict for verdict in verdicts if verdict.right is not None]
    right = sum(verdict.right is True for verdict in asked)
    left = len(verdicts) - len(asked)
    return f"{right} of {len(asked)} as planted" + (f"; {left} depend on the model" if left else "")
