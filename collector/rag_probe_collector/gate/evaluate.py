"""The whole evaluation: a source's paths against a register, reviewed, scored, gated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Protocol, runtime_checkable

from rag_probe.path import EvidencePath
from rag_probe.path_json import instant
from rag_probe.policy import key_from_environment
from rag_probe.protocols import Selection, Source
from rag_probe_collector.errors import InputError
from rag_probe_collector.gate.conclude import conclude
from rag_probe_collector.gate.limits import metrics_for
from rag_probe_collector.gate.report_json import AboutJson, MissingJson, ReportJson
from rag_probe_collector.metrics.labels import prepare
from rag_probe_collector.register import (
    Case,
    Corpus,
    Register,
    Review,
    Split,
    Thresholds,
    load_cases,
    load_corpus,
    load_reviews,
    load_thresholds,
    visible,
)
from rag_probe_collector.scoring import Reviews, score
from rag_probe_collector.scoring.case_json import case_json
from rag_probe_collector.scoring.case_schema import CaseJson
from rag_probe_collector.scoring.experiment import Run, by_thread, check_run, choose_run
from rag_probe_collector.sources.store import TellsUnread

_FIRST_WARNINGS: Final = 20
"""So that one mistake in every case does not fill the report."""


@runtime_checkable
class BringsReviews(Protocol):
    """A source whose answers come with their reviews."""

    def reviews(self) -> Sequence[Review]:
        """Each bound to its path."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is to be evaluated against what."""

    source: str
    """As the user wrote it."""
    cases: Path
    corpus: Path | None = None
    reviews: Path | None = None
    thresholds: Path | None = None
    experiment: str | None = None
    split: Split | None = None
    change: str | None = None
    trace_url: str | None = None
    with_content: bool = False


@dataclass(frozen=True, slots=True)
class _Inputs:
    """The files of a request, read."""

    register: Register
    corpus: Corpus | None
    reviews: tuple[Review, ...]
    thresholds: Thresholds
    digest: str | None


def evaluate(
    request: Request, source: Source, selection: Selection, now: datetime
) -> tuple[ReportJson, tuple[EvidencePath, ...]]:
    """The report and the paths that it is about; raises `InputError` or `SourceError`."""
    inputs = _read(request)
    metrics = metrics_for(inputs.thresholds, str(request.thresholds))
    cases = _chosen(inputs.register, request.split)
    paths = by_thread(source.paths(selection), frozenset(inputs.register.by_id()))
    run = choose_run(paths, request.experiment, visible(request.source))
    run = _of_cases(run, inputs.register, cases, visible(request.source))
    missing = check_run(run, cases, visible(request.source))
    brought = source.reviews() if isinstance(source, BringsReviews) else ()
    reviews = Reviews((*inputs.reviews, *brought), key_from_environment())
    labels = {case.id: prepare(case, inputs.corpus) for case in cases}
    rows = [
        case_json(score(labels[path.tags.case_id or ""], path, reviews, metrics), with_content=request.with_content)
        for path in run.paths
    ]
    about = _about(request, inputs, cases, run, rows, reviews, now)
    if isinstance(source, TellsUnread) and (unread := source.unread()):
        about["unread"] = [visible(each) for each in unread]
    lost = [_missing(case, repetition) for case, repetition in missing]
    report = conclude(rows, lost, about, inputs.thresholds, inputs.digest, now.astimezone(UTC).date())
    return report, run.paths


def _read(request: Request) -> _Inputs:
    corpus = None if request.corpus is None else load_corpus(request.corpus)
    thresholds, digest = (Thresholds(), None) if request.thresholds is None else load_thresholds(request.thresholds)
    return _Inputs(
        register=load_cases(request.cases, corpus),
        corpus=corpus,
        reviews=() if request.reviews is None else load_reviews(request.reviews),
        thresholds=thresholds,
        digest=digest,
    )


def _chosen(register: Register, split: Split | None) -> tuple[Case, ...]:
    chosen = tuple(case for case in register.cases if split in (None, case.split))
    if not chosen:
        raise InputError(f"{register.name}: expected cases of the split {split}, got none")
    return chosen


def _of_cases(run: Run, register: Register, cases: Sequence[Case], source: str) -> Run:
    """In the register's order, whatever order they came in, and without the paths of other splits.

    A path of no case of the register at all is an error.
    """
    known, wanted = register.by_id(), {case.id for case in cases}
    for path in run.paths:
        if path.tags.case_id not in known:
            name = (path.tags.case_id or "")[:80]
            raise InputError(
                f"{source}: {visible(path.path_id)}: expected a case of {register.name}, got {name!r}; "
                "add the case, or choose another --experiment"
            )
    places = {case_id: place for place, case_id in enumerate(known)}
    chosen = [path for path in run.paths if path.tags.case_id in wanted]
    return run._replace(
        paths=tuple(sorted(chosen, key=lambda path: (places[path.tags.case_id or ""], path.tags.repetition or 0)))
    )


def _missing(case: Case, repetition: int | None) -> MissingJson:
    return {"id": case.id, "segment": case.segment, "answerable": case.answerable, "repetition": repetition}


def _about(
    request: Request,
    inputs: _Inputs,
    cases: Sequence[Case],
    run: Run,
    rows: Sequence[CaseJson],
    reviews: Reviews,
    now: datetime,
) -> AboutJson:
    register, corpus = inputs.register, inputs.corpus
    versions = [row["corpus_version"] for row in rows]
    warnings = [*_warnings(inputs, rows), *_unknown_reviews(reviews, register)]
    more = len(warnings) - _FIRST_WARNINGS
    return {
        "source": request.source,
        "register": register.name,
        "experiment": run.experiment,
        "configurations": _known(row["configuration"] for row in rows),
        "models": _known(model for row in rows for model in row["models"]),
        "dataset_version": register.dataset_version or _only(row["dataset_version"] for row in rows),
        "corpus_version": register.corpus_version or (corpus and corpus.version) or _only(versions),
        "splits": dict(Counter(case.split or "no split" for case in cases)),
        "change": request.change,
        "trace_url": request.trace_url,
        "generated_at": now.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        "left_out": run.left_out,
        "warnings": [*warnings[:_FIRST_WARNINGS], *([f"and {more} more warnings"] if more > 0 else [])],
        "with_content": request.with_content,
    }


def _known(values: Iterable[str | None]) -> list[str]:
    return [value for value in dict.fromkeys(values) if value is not None]


def _only(values: Iterable[str | None]) -> str | None:
    return ", ".join(_known(values)) or None


def _warnings(inputs: _Inputs, rows: Sequence[CaseJson]) -> Iterator[str]:
    register, corpus = inputs.register, inputs.corpus
    yield from register.warnings
    told = {"dataset": register.dataset_version, "corpus": register.corpus_version}
    if corpus is not None and None not in (corpus.version, told["corpus"]) and corpus.version != told["corpus"]:
        yield f"the register is about corpus {told['corpus']}, the manifest is {corpus.version}"
    seen = {
        "dataset": _known(row["dataset_version"] for row in rows),
        "corpus": _known(row["corpus_version"] for row in rows),
    }
    for name, version in told.items():
        other = [each for each in seen[name] if version is not None and each != version]
        if other:
            yield f"the register is about {name} {version}, some answers are about {', '.join(other)}"
    yield from _decided_late(inputs.thresholds, rows)


def _decided_late(thresholds: Thresholds, rows: Sequence[CaseJson]) -> Iterator[str]:
    """Checklist 50: limits that were fixed when answers were already there."""
    if thresholds.decided_at is None:
        return
    decided = datetime.fromisoformat(thresholds.decided_at)
    decided = decided.replace(tzinfo=UTC) if decided.tzinfo is None else decided
    first = min((row["started_at"] for row in rows if row["started_at"] is not None), default=None)
    if first is not None and first < instant(int(decided.timestamp() * 1_000_000_000)):
        yield f"the thresholds were fixed at {thresholds.decided_at}, after the first answer at {first}"


def _unknown_reviews(reviews: Reviews, register: Register) -> Iterator[str]:
    unknown = sorted(reviews.cases() - register.by_id().keys())
    if unknown:
        yield f"reviews of cases that are not in the register: {', '.join(visible(each) for each in unknown[:5])}"
