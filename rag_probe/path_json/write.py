"""From the evidence path to its JSON. What is None is absent, and nothing is invented."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from math import isfinite
from typing import Final, TypeVar

from rag_probe.path import EvidencePath, Filtered, Step, Verdict
from rag_probe.path_json.reader import Json, Object
from rag_probe.stages import (
    Answer,
    Chunks,
    Citations,
    Content,
    ContextAssembly,
    Generation,
    Identity,
    Node,
    Rerank,
    Retrieval,
    ToolCall,
)

SCHEMA: Final = "rag-probe.path/1"

R = TypeVar("R")
S = TypeVar("S")
T = TypeVar("T")

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST: Final = datetime.min.replace(tzinfo=UTC)
_LAST: Final = datetime.max.replace(tzinfo=UTC)


def to_json(path: EvidencePath) -> Object:
    """The object of contracts 2, its keys in that order."""
    return {
        "schema": SCHEMA,
        **_asked(path),
        **_found(path),
        **_put_into_context(path),
        **_answered(path),
        **_measured(path),
        "inferred": list(path.inferred),
        "not_captured": list(path.not_captured),
        "warnings": list(path.warnings),
        "partial": path.partial,
    }


def _asked(path: EvidencePath) -> Object:
    tags = path.tags
    return {
        **_known(
            path_id=path.path_id,
            trace_id=path.trace_id,
            trace_ids=list(path.trace_ids),
            thread_id=path.thread_id,
            service=path.service,
            source=path.source,
            started_at=None if path.started_at is None else instant(path.started_at),
            experiment=tags.experiment,
            case_id=tags.case_id,
            case_run=tags.case_run,
            repetition=tags.repetition,
            configuration=tags.configuration,
            dataset_version=tags.dataset_version,
            corpus_version=tags.corpus_version,
            identity=None if path.identity is None else _identity(path.identity),
        ),
        **_content("question", path.question),
    }


def _found(path: EvidencePath) -> Object:
    return _known(
        retrievals=_each(path.retrievals, _retrieval),
        retrieved=None if path.retrieved is None else list(_chunks(path.retrieved)),
        reranked=_each(path.reranked, lambda row: _known(**row._asdict())),
        filtered=None if path.filtered is None else _filtered(path.filtered),
        permissions=_each(path.permissions, lambda row: _known(**row._asdict())),
    )


def _put_into_context(path: EvidencePath) -> Object:
    context, budget = path.context, path.budget
    return _known(
        context=None if context is None else list(_context(context)),
        context_dropped=None if context is None or not context.dropped else list(_dropped(context)),
        context_tokenizer=None if context is None else context.tokenizer,
        budget=None if budget is None else _known(limit=budget.limit, used=budget.used, tokenizer=budget.tokenizer),
    )


def _answered(path: EvidencePath) -> Object:
    return _known(
        answer=None if path.answer is None else _answer(path.answer, path.answer_generation),
        citations=None if path.citations is None else list(_citations(path.citations)),
        generations=_each(path.generations, _generation),
        tools=_each(path.tools, _tool),
        nodes=_each(path.nodes, _node),
        verdicts=_each(path.verdicts, _verdict),
    )


def _measured(path: EvidencePath) -> Object:
    return _known(
        latency_ms=path.latency_ms,
        stage_latency_ms=_known(**dict(path.stage_latency_ms)) or None,
        cost_usd=path.cost_usd,
        error=path.error,
        joined=_known(**dict(path.joined)) or None,
    )


def instant(nanoseconds: int) -> str:
    """RFC 3339 in UTC with microseconds; an instant that no calendar holds is clamped to the years 1 to 9999."""
    try:
        moment = _EPOCH + timedelta(microseconds=nanoseconds // 1000)
    except OverflowError:
        moment = _LAST if nanoseconds > 0 else _FIRST
    return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")


def _known(**values: Json) -> Object:
    return {name: value for name, value in values.items() if value is not None and _is_json(value)}


def _is_json(value: Json) -> bool:
    return not isinstance(value, float) or isfinite(value)


def _each(rows: Iterable[R] | None, render: Callable[[R], Object]) -> list[Object] | None:
    return None if rows is None else [render(row) for row in rows]


def _at(column: Sequence[T | None], place: int) -> T | None:
    return column[place] if column else None


def _content(name: str, content: Content | None) -> Object:
    if content is None:
        return {}
    return _known(**{name: content.text, f"{name}_length": content.length, f"{name}_digest": content.digest})


def _identity(identity: Identity) -> Object:
    return _known(subject=identity.subject, tenant=identity.tenant, roles=list(identity.roles) or None)


def _run(step: Step[S]) -> Object:
    return _known(latency_ms=step.latency_ms, error=step.error)


def _chunks(chunks: Chunks) -> Iterator[Object]:
    for place, chunk_id in enumerate(chunks.ids):
        yield _known(
            id=chunk_id,
            rank=chunks.ranks[place] if chunks.ranks else place + 1,
            score=_at(chunks.scores, place),
            document=_at(chunks.documents, place),
            revision=_at(chunks.revisions, place),
            tenant=_at(chunks.tenants, place),
            id_rule=_at(chunks.id_rules, place),
            parent=_at(chunks.parents, place),
            text=_at(chunks.texts, place),
        )


def _retrieval(step: Step[Retrieval]) -> Object:
    stage, documents, candidates = step.stage, step.stage.documents, step.stage.candidates
    return {
        **_known(name=stage.name),
        **_content("query", stage.query),
        **_known(
            top_k=stage.top_k,
            documents=None if documents is None else list(_chunks(documents)),
            candidates=None if candidates is None else list(_chunks(candidates)),
            reranked=None if stage.reranked is None else list(_reranked(stage.reranked)),
            count=None if documents is None else _count(documents),
            **_run(step),
        ),
    }


def _reranked(stage: Rerank) -> Iterator[Object]:
    for place, chunk_id in enumerate(stage.ids):
        yield _known(id=chunk_id, rank=place + 1, score=_at(stage.scores, place))


def _count(chunks: Chunks) -> int:
    return len(chunks.ids) if chunks.count is None else chunks.count


def _filtered(filtered: Filtered) -> Object:
    kept = None if filtered.kept is None else list(filtered.kept)
    return {**_known(kept=kept), "dropped": [_known(**drop._asdict()) for drop in filtered.dropped]}


def _context(context: ContextAssembly) -> Iterator[Object]:
    for place, chunk_id in enumerate(context.ids):
        kept = context.kept[place] if context.kept else ()
        yield _known(
            id=chunk_id,
            position=place + 1,
            tokens=_at(context.tokens, place),
            truncated=_at(context.truncated, place),
            kept=[list(part) for part in kept] or None,
            duplicate_of=_at(context.duplicate_of, place),
        )


def _dropped(context: ContextAssembly) -> Iterator[Object]:
    for place, chunk_id in enumerate(context.dropped):
        yield _known(id=chunk_id, reason=_at(context.dropped_reasons, place))


def _answer(answer: Answer, generation: int | None) -> Object:
    content = answer.content or Content()
    return _known(
        outcome=answer.outcome,
        text=content.text,
        length=content.length,
        digest=content.digest,
        confidence=answer.confidence,
        generation=generation,
    )


def _citations(citations: Citations) -> Iterator[Object]:
    for place, chunk_id in enumerate(citations.ids):
        yield _known(
            id=chunk_id,
            marker=_at(citations.markers, place),
            start=_at(citations.starts, place),
            end=_at(citations.ends, place),
            valid=_at(citations.valid, place),
        )


def _generation(step: Step[Generation]) -> Object:
    stage = step.stage
    return _known(
        role=stage.role,
        model=stage.response_model or stage.model,
        provider=stage.provider,
        context=None if stage.context is None else list(stage.context.ids),
        input_tokens=stage.input_tokens,
        output_tokens=stage.output_tokens,
        cached_tokens=stage.cached_tokens,
        cache_write_tokens=stage.cache_write_tokens,
        reasoning_tokens=stage.reasoning_tokens,
        cost_usd=step.cost_usd,
        latency_ms=step.latency_ms,
        finish_reason=stage.finish_reasons[0] if stage.finish_reasons else None,
        cache_hit=stage.cache_hit,
        error=step.error,
    )


def _tool(step: Step[ToolCall]) -> Object:
    return _known(name=step.stage.name, call_id=step.stage.call_id, **_run(step))


def _node(step: Step[Node]) -> Object:
    node = step.stage
    return _known(
        name=node.name,
        step=node.step,
        task_id=node.task_id,
        checkpoint_id=node.checkpoint_id,
        checkpoint_ns=node.checkpoint_ns,
        attempt=node.attempt,
        outcome=node.outcome,
        latency_ms=step.latency_ms,
        **_content("asked", node.asked),
        **_content("answered", node.answered),
    )


def _verdict(verdict: Verdict) -> Object:
    return {
        **_known(node=verdict.node, step=verdict.step, passed=verdict.passed, final=verdict.final),
        **_content("draft", verdict.draft),
    }
