"""One scored case as the report writes it (contracts 6). Texts are left out unless asked for: then none can leak."""

from __future__ import annotations

from collections.abc import Iterable

from rag_probe.path import EvidencePath
from rag_probe.path_json import instant
from rag_probe.stages import Content
from rag_probe_collector.metrics.coverage import Coverage
from rag_probe_collector.register import Review
from rag_probe_collector.scoring.case_schema import (
    CaseJson,
    ContentJson,
    ExplainedJson,
    FindingJson,
    RequirementJson,
    ReviewJson,
    RunJson,
    StrictJson,
    TokensJson,
    ValueJson,
)
from rag_probe_collector.scoring.finding import Finding
from rag_probe_collector.scoring.graph_json import graph_json
from rag_probe_collector.scoring.loss import Loss
from rag_probe_collector.scoring.scored import ScoredCase


def case_json(scored: ScoredCase, *, with_content: bool = False) -> CaseJson:
    """The row; with `with_content` also the question, the answer and the reviewer's prose."""
    content = _content(scored) if with_content else None
    graph = graph_json(scored, with_content=with_content)
    return {**_strict(scored), **_explained(scored, content), **_run(scored), **graph}


def _strict(scored: ScoredCase) -> StrictJson:
    case, metrics = scored.case, scored.metrics
    return {
        "id": case.id,
        "segment": case.segment,
        "repetition": scored.path.tags.repetition,
        "answerable": case.answerable,
        "evidence_recall": metrics["evidence_recall"].value,
        "prompt_evidence_recall": metrics["prompt_evidence_recall"].value,
        "supported_fraction": metrics["claim_support"].value,
        "abstention_correct": scored.abstention_correct,
        "violations": list(scored.violations),
        "gated_recall": scored.gated_recall.value,
        "gated_by": scored.gated_by,
    }


def _explained(scored: ScoredCase, content: ContentJson | None) -> ExplainedJson:
    case, path, answer = scored.case, scored.path, _answer(scored.path)
    return {
        "broken_stage": scored.broken_stage,
        "mechanism": scored.mechanism,
        "findings": [_finding(each) for each in scored.findings],
        "requirements": [_requirement(coverage, loss) for coverage, loss in scored.requirements],
        "duplicates": dict(scored.duplicates),
        "metrics": {name: _value(*value) for name, value in scored.metrics.items()},
        "not_captured": list(scored.not_captured),
        "inferred": list(path.inferred),
        "outcome": None if path.answer is None else path.answer.outcome,
        "evidence": _evidence(scored),
        "evidence_version": scored.evidence_version,
        "answer_digest": None if answer is None else answer.digest,
        "review": None if scored.review is None else _review(scored.review),
        "tenant": case.tenant,
        "split": case.split,
        "impact": case.impact,
        "slices": {name: _word(value) for name, value in case.slices.items()},
        "content": content,
    }


def _run(scored: ScoredCase) -> RunJson:
    path = scored.path
    return {
        "path_id": path.path_id,
        "trace_id": path.trace_id,
        "started_at": None if path.started_at is None else instant(path.started_at),
        "latency_ms": path.latency_ms,
        "stage_latency_ms": dict(path.stage_latency_ms),
        "cost_usd": path.cost_usd,
        "tokens": _tokens(scored),
        "models": _models(path),
        "configuration": path.tags.configuration,
        "dataset_version": path.tags.dataset_version,
        "corpus_version": path.tags.corpus_version,
        "warnings": list(path.warnings),
    }


def _finding(finding: Finding) -> FindingJson:
    return {
        "finding": finding.name,
        "stage": finding.stage,
        "ids": list(finding.ids),
        "reason": finding.reason,
        "inferred": finding.inferred,
    }


def _requirement(coverage: Coverage, loss: Loss | None) -> RequirementJson:
    return {
        "id": coverage.need.id,
        "covered": {str(stage): value for stage, value in coverage.covered.items()},
        "loss_stage": None if loss is None else loss.stage,
        "mechanism": None if loss is None else loss.mechanism,
    }


def _value(
    value: float | None, numerator: float | None, denominator: float | None, n: int, reason: str | None
) -> ValueJson:
    return {"value": value, "numerator": numerator, "denominator": denominator, "n": n, "reason": reason}


def _evidence(scored: ScoredCase) -> dict[str, list[str] | None]:
    """Ids per stage in their order, as recorded; null where nobody did."""
    path = scored.path
    return {
        "gold": sorted(scored.case.gold_ids or ()),
        "retrieved": None if path.retrieved is None else list(path.retrieved.ids),
        "filtered": None if path.filtered is None or path.filtered.kept is None else list(path.filtered.kept),
        "permitted": None
        if path.permissions is None
        else [each.id for each in path.permissions if each.decision == "allow"],
        "context": None if path.context is None else list(path.context.ids),
        "cited": None if path.citations is None else list(path.citations.ids),
    }


def _tokens(scored: ScoredCase) -> TokensJson:
    billed = [step.stage for step in scored.path.generations or () if not step.stage.cache_hit]
    known = scored.path.generations is not None
    context = scored.metrics["context_tokens"].value
    return {
        "input": _sum(each.input_tokens for each in billed) if known else None,
        "output": _sum(each.output_tokens for each in billed) if known else None,
        "context": None if context is None else int(context),
    }


def _sum(counts: Iterable[int | None]) -> int | None:
    total = 0
    for count in counts:
        if count is None:
            return None
        total += count
    return total


def _models(path: EvidencePath) -> list[str]:
    names = (step.stage.response_model or step.stage.model for step in path.generations or ())
    return [name for name in dict.fromkeys(names) if name is not None]


def _answer(path: EvidencePath) -> Content | None:
    return None if path.answer is None else path.answer.content


def _review(review: Review) -> ReviewJson:
    supported, total = review.counts or (0, 0)
    return {
        "reviewer": review.reviewer,
        "supported_claims": supported,
        "total_claims": total,
        "reviewed_at": review.reviewed_at,
    }


def _content(scored: ScoredCase) -> ContentJson:
    answer, notes = _answer(scored.path), scored.case.notes
    return {
        "question": scored.case.question,
        "answer": None if answer is None else answer.text,
        "notes": [notes] if isinstance(notes, str) else list(notes or ()),
        "rationale": None if scored.review is None else scored.review.rationale,
    }


def _word(value: str | bool | float) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
