"""The row of one case in `rag-probe.report/1`: names that stay (checklist 39, contracts 6)."""

from __future__ import annotations

from typing_extensions import TypedDict


class ValueJson(TypedDict):
    """A metric's figure for one case."""

    value: float | None
    numerator: float | None
    denominator: float | None
    n: int
    reason: str | None


class FindingJson(TypedDict):
    """One thing that is wrong, where, on which ids."""

    finding: str
    stage: str | None
    ids: list[str]
    reason: str | None
    inferred: bool


class RequirementJson(TypedDict):
    """A needed fact: where it was covered, and where it was lost first."""

    id: str
    covered: dict[str, bool | None]
    loss_stage: str | None
    mechanism: str | None


class ReviewJson(TypedDict):
    """The review that counts, without its prose."""

    reviewer: str
    supported_claims: int
    total_claims: int
    reviewed_at: str | None


class TokensJson(TypedDict):
    """As billed, over all generations; null when the usage of one is unknown."""

    input: int | None
    output: int | None
    context: int | None


class ContentJson(TypedDict):
    """Only with content: what the texts were."""

    question: str
    answer: str | None
    notes: list[str]
    rationale: str | None


class StrictJson(TypedDict):
    """Checklist 39's names, and what the gate asks."""

    id: str
    segment: str
    repetition: int | None
    answerable: bool
    evidence_recall: float | None
    prompt_evidence_recall: float | None
    supported_fraction: float | None
    abstention_correct: bool | None
    violations: list[str]
    gated_recall: float | None
    gated_by: str


class ExplainedJson(TypedDict):
    """Where it broke, and everything that explains it."""

    broken_stage: str
    mechanism: str | None
    findings: list[FindingJson]
    requirements: list[RequirementJson]
    duplicates: dict[str, int]
    metrics: dict[str, ValueJson]
    not_captured: list[str]
    inferred: list[str]
    outcome: str | None
    evidence: dict[str, list[str] | None]
    evidence_version: str | None
    answer_digest: str | None
    review: ReviewJson | None
    tenant: str | None
    split: str | None
    impact: str
    slices: dict[str, str]
    content: ContentJson | None


class RunJson(TypedDict):
    """What ran, how long and at what cost."""

    path_id: str
    trace_id: str
    started_at: str | None
    latency_ms: float | None
    stage_latency_ms: dict[str, float]
    cost_usd: float | None
    tokens: TokensJson
    models: list[str]
    configuration: str | None
    dataset_version: str | None
    corpus_version: str | None
    warnings: list[str]


class NodeJson(TypedDict):
    """One task of a graph's node."""

    name: str
    step: int | None
    outcome: str | None
    attempt: int | None


class RetriesJson(TypedDict):
    """How often nodes ran again: in later steps, and in further attempts of one."""

    total: int
    nodes: dict[str, int]
    """Those that did."""
    complete: bool
    """False where further attempts within a step are not stored, so that there may have been more."""


class VerdictJson(TypedDict):
    """What a validation said of a draft, and what a review says of that."""

    node: str | None
    step: int | None
    passed: bool
    draft_digest: str | None
    draft_length: int | None
    draft: str | None
    """Only with content."""
    good: bool | None
    """Whether the draft was; null while no review decides it."""
    right: bool | None


class GraphJson(TypedDict):
    """What a graph did; null where nobody recorded it."""

    nodes: list[NodeJson] | None
    retries: RetriesJson | None
    verdicts: list[VerdictJson] | None


class CaseJson(StrictJson, ExplainedJson, RunJson, GraphJson):
    """The whole row."""
