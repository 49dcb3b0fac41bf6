"""Verdicts that are told one after the other, as one list."""

from __future__ import annotations

from typing import TypeVar

from rag_probe.stages import Verdicts

T = TypeVar("T")


def followed(before: Verdicts | None, after: Verdicts, cap: int) -> Verdicts:
    """`before` and then `after`: the first `cap` of them, and how many there were."""
    if before is None:
        return after
    size, more = len(before.passed), len(after.passed)
    total = (before.count or size) + (after.count or more)
    return Verdicts(
        passed=(*before.passed, *after.passed)[:cap],
        nodes=_joined(before.nodes, size, after.nodes, more)[:cap],
        steps=_joined(before.steps, size, after.steps, more)[:cap],
        lengths=_joined(before.lengths, size, after.lengths, more)[:cap],
        digests=_joined(before.digests, size, after.digests, more)[:cap],
        count=total if total > min(cap, size + more) else None,
    )


def _joined(before: tuple[T | None, ...], size: int, after: tuple[T | None, ...], more: int) -> tuple[T | None, ...]:
    """Of two columns of which either may say nothing."""
    return (*(before or (None,) * size), *(after or (None,) * more)) if before or after else ()
