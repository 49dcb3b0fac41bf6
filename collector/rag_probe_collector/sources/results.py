"""`results:FILE`: answers that someone captured by hand or in a harness, as evidence paths (checklist 20, 60)."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

from rag_probe import attributes as a
from rag_probe.path import EvidencePath
from rag_probe.policy import CapturePolicy, key_from_environment
from rag_probe.protocols import Selection, SourceError, SourceOptions
from rag_probe.stages import Answer, CaseTags, Chunks, Citations, Content, ContextAssembly, Outcome
from rag_probe_collector.errors import InputError
from rag_probe_collector.register.listing import Item, read_listing
from rag_probe_collector.register.review import Review
from rag_probe_collector.register.review_rules import faults
from rag_probe_collector.register.validate import Shape

_logger: Final = logging.getLogger("rag_probe.collector")

_NEVER_CAPTURED: Final = (
    "question",
    "retrievals",
    "reranked",
    "filtered",
    "permissions",
    "generations",
    "tools",
    "nodes",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class InlineReview:
    """The review beside an answer: its counts and who says so."""

    total_claims: int
    supported_claims: int
    reviewer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Captured:
    """One captured result. Its id is the case's."""

    id: str
    retrieved_ids: tuple[str, ...]
    prompt_ids: tuple[str, ...]
    answer: str
    citations: tuple[str, ...]
    review: InlineReview | None = None
    outcome: Outcome | None = None
    """Given when a text stands for silence; else an answer with a non-blank character is an answer."""
    confidence: float | None = None
    experiment: str | None = None
    repetition: int | None = None
    configuration: str | None = None
    dataset_version: str | None = None
    corpus_version: str | None = None
    trace_id: str = ""
    """Of the saved trace, where there is one."""
    latency_ms: float | None = None
    cost_usd: float | None = None
    error: str | None = None
    """The exception's type."""

    @property
    def path_id(self) -> str:
        """The same for the same experiment, case and repetition."""
        parts = (self.experiment, self.id, None if self.repetition is None else str(self.repetition))
        return ":".join(["result", *(part for part in parts if part is not None)])


_SHAPE: Final = Shape(Captured, "result")
_UNIQUE: Final = ("retrieved_ids", "prompt_ids", "citations")


@dataclass(frozen=True, slots=True)
class Results:
    """A `Source` of captured results that brings their reviews along."""

    name: str
    records: tuple[Captured, ...]
    policy: CapturePolicy

    def paths(self, selection: Selection) -> Iterator[EvidencePath]:
        """In the order of the file."""
        if selection.service or selection.traces or selection.since is not None or selection.until is not None:
            raise SourceError(f"{self.name}: captured results have no service, trace or time; select by --attribute")
        chosen = (record for record in self.records if _fits(record, selection.attributes))
        return (_path(record, self.policy) for record in islice(chosen, selection.limit))

    def reviews(self) -> tuple[Review, ...]:
        """The inline reviews, each bound to its path."""
        return tuple(_review(record, record.review) for record in self.records if record.review is not None)


def open_results(location: str, options: SourceOptions) -> Results:  # noqa: ARG001 - the protocol's signature
    """Read and check the whole file, so that no part of a bad one is scored; raises `InputError`."""
    listing = read_listing(Path(location), "results", "rag-probe.results/1")
    if not listing.items:
        raise InputError(f"{listing.name}: expected at least one result, got none")
    _warn_of_misspelt(listing.items)
    policy = CapturePolicy(content=True, digest_key=key_from_environment())
    return Results(listing.name, tuple(_record(item) for item in listing.items), policy)


def _warn_of_misspelt(items: Sequence[Item]) -> None:
    """A field that no version knows may be somebody's own; one that is nearly ours is told, once."""
    found = {pair: _SHAPE.place(item) for item in reversed(items) for pair in _SHAPE.misspelt(item.value)}
    for (written, meant), place in found.items():
        _logger.warning("%s: field %r is ignored; is %r meant?", place, written[:80], meant)


def _record(item: Item) -> Captured:
    record, place = _SHAPE.read(item, unique=_UNIQUE), _SHAPE.place(item)
    answered = bool(record.answer.strip())
    if not answered and record.outcome in ("answered", "partial"):
        raise InputError(f"{place}: outcome: expected abstained for a blank answer, got {record.outcome!r}")
    if record.review is not None:
        problem = next(faults(_review(record, record.review)), None)
        if problem is not None:
            raise InputError(f"{place}: review.{problem}")
    return record


def _review(record: Captured, review: InlineReview) -> Review:
    return Review(
        case_id=record.id,
        experiment=record.experiment,
        path_id=record.path_id,
        reviewer=review.reviewer,
        total_claims=review.total_claims,
        supported_claims=review.supported_claims,
    )


def _path(record: Captured, policy: CapturePolicy) -> EvidencePath:
    prompt = frozenset(record.prompt_ids)
    citations = Citations(ids=record.citations, valid=tuple(each in prompt for each in record.citations))
    content = Content(length=len(record.answer), digest=policy.digest(record.answer), text=record.answer)
    silent: Outcome = "abstained" if record.error is None else "error"
    outcome = record.outcome or ("answered" if record.answer.strip() else silent)
    return EvidencePath(
        path_id=record.path_id,
        trace_id=record.trace_id,
        trace_ids=(record.trace_id,) if record.trace_id else (),
        source="result",
        tags=CaseTags(
            experiment=record.experiment,
            case_id=record.id,
            repetition=record.repetition,
            configuration=record.configuration,
            dataset_version=record.dataset_version,
            corpus_version=record.corpus_version,
        ),
        retrieved=Chunks(ids=record.retrieved_ids),
        context=ContextAssembly(ids=record.prompt_ids),
        answer=Answer(outcome=outcome, content=content, confidence=record.confidence, citations=citations),
        citations=citations,
        latency_ms=record.latency_ms,
        cost_usd=record.cost_usd,
        error=record.error,
        not_captured=_NEVER_CAPTURED,
    )


def _fits(record: Captured, wanted: Mapping[str, str]) -> bool:
    known = {
        a.EXPERIMENT: record.experiment,
        a.CASE_ID: record.id,
        a.REPETITION: None if record.repetition is None else str(record.repetition),
        a.CONFIGURATION: record.configuration,
        a.DATASET_VERSION: record.dataset_version,
        a.CORPUS_VERSION: record.corpus_version,
    }
    return all(known.get(name) == value for name, value in wanted.items())
