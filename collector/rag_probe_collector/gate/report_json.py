"""`rag-probe.report/1`: what a gated run is written as, and read back from."""

from __future__ import annotations

from typing import Final, Literal, NotRequired, TypeAlias

from typing_extensions import TypedDict

from rag_probe_collector.scoring.case_schema import CaseJson

SCHEMA: Final = "rag-probe.report/1"
NOTE: Final = (
    "This is what happened on these labelled cases. A run over a fixture is no certification: "
    "small counts prove little, and the intervals beside the figures say how little."
)

Verdict: TypeAlias = Literal["pass", "fail", "pending", "incomplete"]


class GatedCase(CaseJson):
    """A case with the gate's word on it."""

    verdict: Verdict
    why: list[str]
    waived: list[str]


class MissingJson(TypedDict):
    """A case, or one repetition of it, that no result answers."""

    id: str
    segment: str
    answerable: bool
    repetition: int | None


class SegmentJson(TypedDict):
    """`mean_evidence_recall` is null when no answerable case has one; it is then not perfect, but unknown."""

    cases: int
    answerable_cases: int
    mean_evidence_recall: float | None


class ShareJson(TypedDict):
    """A proportion with its 95 % Wilson interval; null at 0 of 0."""

    count: int
    n: int
    value: float | None
    low: float | None
    high: float | None


class MetricJson(TypedDict):
    """The mean over the cases that have the figure, repetitions averaged first."""

    mean: float | None
    cases: int
    without: int
    denominator: str


class SliceJson(TypedDict):
    """One value of one slice."""

    cases: int
    passed: int
    mean_recall: float | None


class ExceptionJson(TypedDict):
    """An exception of the thresholds file and whether it counted."""

    owner: str
    reason: str
    expires: str
    case_id: str | None
    violation: str | None
    state: Literal["used", "unused", "expired"]


class ThresholdsJson(TypedDict):
    """What was asked for; without a file, the defaults and no hash."""

    hash: str | None
    decided_at: str | None
    minimum_recall: float
    metrics: dict[str, dict[str, float | None]]
    blockers: list[str]
    inferred: str
    accept_not_captured: list[str]
    exceptions: list[ExceptionJson]


class LatencyJson(TypedDict):
    """Milliseconds over the rows that have the stage."""

    n: int
    median: float
    p95: float


class AboutJson(TypedDict):
    """What was run, on what, with what."""

    source: str
    register: str
    experiment: str | None
    configurations: list[str]
    models: list[str]
    dataset_version: str | None
    corpus_version: str | None
    splits: dict[str, int]
    change: str | None
    trace_url: str | None
    generated_at: str
    left_out: int
    """Paths without a case id."""
    warnings: list[str]
    unread: NotRequired[list[str]]
    """Where the source broke off."""
    with_content: bool


class ReportJson(TypedDict):
    """The whole report."""

    schema: str
    gate: Literal["PASS", "FAIL"]
    exit_code: int
    reasons: list[str]
    case_count: int
    counts: dict[str, int]
    segments: dict[str, SegmentJson]
    violations: dict[str, ShareJson]
    shares: dict[str, ShareJson]
    broken_stages: dict[str, int]
    metrics: dict[str, MetricJson]
    slices: dict[str, dict[str, SliceJson]]
    latency_ms: dict[str, LatencyJson]
    cost_usd: float | None
    cost_unknown: int
    """Rows whose cost nobody knows; they are not in the sum."""
    thresholds: ThresholdsJson
    about: AboutJson
    cases: list[GatedCase]
    missing: list[MissingJson]
    note: str
