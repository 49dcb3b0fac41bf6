"""Several traces of one question as one path: a failure, and the run that recovered from it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final, TypeVar

from rag_probe.passages import union
from rag_probe.path import EvidencePath
from rag_probe.stages import NO_TAGS

T = TypeVar("T")

_BEGINNING: Final = ("started_at", "service", "identity", "question")
"""Fields of the first run that knows them."""
_END: Final = ("reranked", "filtered", "permissions", "context", "budget", "answer", "citations")
"""Fields of the last run that knows them; `error` is the last run's in any case."""


def together(runs: Sequence[EvidencePath]) -> EvidencePath:
    """`runs` is not empty, oldest first; times, tokens and cost are those of all runs."""
    first, last = runs[0], runs[-1]
    if len(runs) == 1:
        return first
    retrievals = _all(run.retrievals for run in runs)
    returned = [step.stage.documents for step in retrievals or () if step.stage.documents is not None]
    chosen = {name: _known(name, runs) for name in _BEGINNING} | {name: _known(name, runs[::-1]) for name in _END}
    return replace(
        last,
        **chosen,
        path_id=first.path_id,
        trace_id=first.trace_id,
        trace_ids=tuple(dict.fromkeys(trace for run in runs for trace in run.trace_ids)),
        tags=next((run.tags for run in runs if run.tags != NO_TAGS), NO_TAGS),
        retrievals=retrievals,
        retrieved=union(returned) if returned else None,
        generations=_all(run.generations for run in runs),
        answer_generation=_answer_generation(runs),
        tools=_all(run.tools for run in runs),
        nodes=_all(run.nodes for run in runs),
        verdicts=_all(run.verdicts for run in runs),
        latency_ms=_sum(run.latency_ms for run in runs),
        stage_latency_ms=_sums(run.stage_latency_ms for run in runs),
        cost_usd=_sum(run.cost_usd for run in runs),
        inferred=tuple(dict.fromkeys(name for run in runs for name in run.inferred)),
        not_captured=tuple(dict.fromkeys(name for run in runs for name in run.not_captured)),
        warnings=tuple(dict.fromkeys(text for run in runs for text in run.warnings)),
        partial=any(run.partial for run in runs),
    )


def _known(name: str, runs: Sequence[EvidencePath]) -> object:
    return next((found for run in runs if (found := getattr(run, name)) is not None), None)


def _all(steps: Iterable[tuple[T, ...] | None]) -> tuple[T, ...] | None:
    known = [each for each in steps if each is not None]
    return tuple(step for each in known for step in each) if known else None


def _answer_generation(runs: Sequence[EvidencePath]) -> int | None:
    """Of the last run that has one, counted over all runs."""
    found, before = None, 0
    for run in runs:
        if run.answer_generation is not None:
            found = before + run.answer_generation
        before += len(run.generations or ())
    return found


def _sum(parts: Iterable[float | None]) -> float | None:
    """None when a part is unknown."""
    total = 0.0
    for part in parts:
        if part is None:
            return None
        total += part
    return total


def _sums(parts: Iterable[Sequence[tuple[str, float]]]) -> tuple[tuple[str, float], ...]:
    totals: dict[str, float] = {}
    for part in parts:
        for name, time in part:
            totals[name] = totals.get(name, 0.0) + time
    return tuple(totals.items())
