"""The faults that the demo planted, beside what the report says of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from pydantic import TypeAdapter
from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.table import Table

BEFORE_THE_MODEL: Final = frozenset({"access", "retrieval", "filter", "permission", "context"})
"""Stages whose planted faults stay, whichever model answers."""
ROOM_FOR_REASONS: Final = 120
"""Columns of a terminal from which on the table says why a fault is one."""

_MARKS: Final = {True: "[green]✓[/]", False: "[red]✗[/]", None: "?"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What was planted in a case: the one stage that it breaks."""

    stage: str = "none"
    violations: tuple[str, ...] = ()
    why: str = "Nothing is planted here."


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

    case_id: str
    fault: Fault
    row: Row | None
    """None when the report has no such case."""
    right: bool | None

    @property
    def clean(self) -> bool:
        """Whether nothing was planted and nothing found."""
        return bool(self.right) and self.fault == Fault()


def compare(planted: Path, report: Path, *, real_model: bool = False) -> list[Verdict]:
    """The planted faults in their order, then the cases without one, in which nothing must be found."""
    faults = TypeAdapter(dict[str, Fault]).validate_json(planted.read_bytes())
    rows = {row.id: row for row in TypeAdapter(_Report).validate_json(report.read_bytes()).cases}
    names = dict.fromkeys([*faults, *rows])
    return [_verdict(name, faults.get(name, Fault()), rows.get(name), real_model) for name in names]


def table(verdicts: Sequence[Verdict], width: int) -> Table:
    """A line for each fault, and one for all cases that are as clean as they should be."""
    drawn = Table(title="planted and found", title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for heading in ("case", "planted in", "found in", "by", ""):
        drawn.add_column(heading, no_wrap=True)
    if width >= ROOM_FOR_REASONS:
        drawn.add_column("why")
    for line in _lines(verdicts):
        drawn.add_row(*line[: len(drawn.columns)])
    drawn.caption, drawn.caption_justify = _caption(verdicts), "left"
    return drawn


def _lines(verdicts: Sequence[Verdict]) -> Iterator[tuple[str, ...]]:
    for case_id, fault, row, right in (verdict for verdict in verdicts if not verdict.clean):
        found, by = ("nowhere", "not in the report") if row is None else (row.broken_stage, _by(row))
        yield *map(escape, (case_id, fault.stage, found, by)), _MARKS[right], escape(fault.why)
    clean = [verdict.case_id for verdict in verdicts if verdict.clean]
    if clean:
        yield f"the other {len(clean)}", "none", "none", "", _MARKS[True], escape(", ".join(clean))


def _by(row: Row) -> str:
    return row.mechanism or ", ".join(row.violations)


def _verdict(name: str, fault: Fault, row: Row | None, real_model: bool) -> Verdict:
    if real_model and fault.stage not in BEFORE_THE_MODEL:
        return Verdict(name, fault, row, None)
    return Verdict(name, fault, row, row is not None and _found(fault, row))


def _found(fault: Fault, row: Row) -> bool:
    return row.broken_stage == fault.stage and (fault.stage != "none" or row.violations == fault.violations)


def _caption(verdicts: Sequence[Verdict]) -> str:
    asked = [verdict for verdict in verdicts if verdict.right is not None]
    left = len(verdicts) - len(asked)
    caption = f"{sum(verdict.right is True for verdict in asked)} of {len(asked)} cases as planted"
    return caption + (f"; {left} depend on the model" if left else "")
