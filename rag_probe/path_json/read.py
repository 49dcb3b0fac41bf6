"""From the path JSON back to the evidence path."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, TypeVar

from rag_probe.path import Drop, EvidencePath, Filtered, Origin, Permission, Ranked, Step, Verdict
from rag_probe.path_json.reader import Reader
from rag_probe.stages import (
    Answer,
    Budget,
    CaseTags,
    Chunks,
    Citations,
    Content,
    ContextAssembly,
    Decision,
    Generation,
    Identity,
    Node,
    Rerank,
    Retrieval,
    ToolCall,
)
from rag_probe.wire.answer import OUTCOMES
from rag_probe.wire.node import NODE_OUTCOMES

T = TypeVar("T")

_SCHEMAS: Final = ("rag-probe.path/1",)
_DECISIONS: Final[dict[str, Decision]] = {"allow": "allow", "deny": "deny"}
_ORIGINS: Final[dict[str, Origin]] = {"checkpoint": "checkpoint", "trace": "trace"}
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


def from_json(value: object) -> EvidencePath:
    """The path that `to_json` wrote, in this or an earlier version; raises `PathFormatError`, which names the field.

    What the JSON does not hold is not captured: prompts and outputs of model calls, and of a call's context all but
    the ids, except for the one that produced the answer. Unknown fields are ignored; null is as good as absent.
    """
    path = Reader(value)
    if path.needed("schema") not in _SCHEMAS:
        path.refuse("schema", path.text("schema"), f"{' or '.join(_SCHEMAS)} (a newer rag-probe may read it)")
    answer = path.inner("answer")
    return EvidencePath(
        path_id=path.needed("path_id"),
        trace_id=path.needed("trace_id"),
        trace_ids=path.texts("trace_ids") or (),
        thread_id=path.text("thread_id"),
        service=path.text("service"),
        source=path.needed("source"),
        started_at=_started_at(path),
        tags=_tags(path),
        identity=_identity(path),
        question=_content(path, "question", "question_length", "question_digest"),
        retrievals=_each(path, "retrievals", _retrieval),
        retrieved=_chunks(path, "retrieved"),
        reranked=_each(path, "reranked", _ranked),
        filtered=_filtered(path),
        permissions=_each(path, "permissions", _permission),
        context=_context(path),
        budget=_budget(path),
        answer=None if answer is None else _answer(answer),
        answer_generation=None if answer is None else answer.whole("generation"),
        citations=_citations(path),
        generations=_each(path, "generations", _generation),
        tools=_each(path, "tools", _tool),
        nodes=_each(path, "nodes", _node),
        verdicts=_each(path, "verdicts", _verdict),
        latency_ms=path.number("latency_ms"),
        stage_latency_ms=tuple(path.numbers("stage_latency_ms")),
        cost_usd=path.number("cost_usd"),
        error=path.text("error"),
        joined=tuple(path.words("joined", _ORIGINS)),
        inferred=path.texts("inferred") or (),
        not_captured=path.texts("not_captured") or (),
        warnings=path.texts("warnings") or (),
        partial=path.flag("partial") or False,
    )


def _each(path: Reader, name: str, read: Callable[[Reader], T]) -> tuple[T, ...] | None:
    rows = path.rows(name)
    return None if rows is None else tuple(read(row) for row in rows)


def _column(rows: Sequence[Reader], read: Callable[[Reader], T | None]) -> tuple[T | None, ...]:
    column = tuple(read(row) for row in rows)
    return column if any(value is not None for value in column) else ()


def _texts(rows: Sequence[Reader], name: str) -> tuple[str | None, ...]:
    return _column(rows, lambda row: row.text(name))


def _started_at(path: Reader) -> int | None:
    text = path.text("started_at")
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
        return (moment - _EPOCH) // _MICROSECOND * 1000
    except (ValueError, TypeError):  # TypeError: without an offset
        path.refuse("started_at", text, "an RFC 3339 instant with its offset")


def _tags(path: Reader) -> CaseTags:
    return CaseTags(
        experiment=path.text("experiment"),
        case_id=path.text("case_id"),
        case_run=path.text("case_run"),
        repetition=path.whole("repetition"),
        configuration=path.text("configuration"),
        dataset_version=path.text("dataset_version"),
        corpus_version=path.text("corpus_version"),
    )


def _identity(path: Reader) -> Identity | None:
    row = path.inner("identity")
    if row is None:
        return None
    return Identity(subject=row.text("subject"), tenant=row.text("tenant"), roles=row.texts("roles") or ())


def _content(row: Reader, text: str, length: str, digest: str) -> Content | None:
    content = Content(length=row.whole(length), digest=row.text(digest), text=row.text(text))
    return None if content == Content() else content


def _chunks(path: Reader, name: str, count: int | None = None) -> Chunks | None:
    rows = path.rows(name)
    if rows is None:
        return None
    ranks = tuple(place if (rank := row.whole("rank")) is None else rank for place, row in enumerate(rows, 1))
    return Chunks(
        ids=tuple(row.needed("id") for row in rows),
        scores=_column(rows, lambda row: row.number("score")),
        documents=_texts(rows, "document"),
        revisions=_texts(rows, "revision"),
        tenants=_texts(rows, "tenant"),
        id_rules=_texts(rows, "id_rule"),
        parents=_texts(rows, "parent"),
        texts=_texts(rows, "text"),
        ranks=() if ranks == tuple(range(1, len(rows) + 1)) else ranks,
        count=None if count == len(rows) else count,
    )


def _retrieval(row: Reader) -> Step[Retrieval]:
    stage = Retrieval(
        name=row.text("name"),
        query=_content(row, "query", "query_length", "query_digest"),
        top_k=row.whole("top_k"),
        documents=_chunks(row, "documents", row.whole("count")),
        candidates=_chunks(row, "candidates"),
        reranked=_reranking(row),
    )
    return Step(stage, row.number("latency_ms"), row.text("error"))


def _reranking(row: Reader) -> Rerank | None:
    ranked = _each(row, "reranked", _ranked)
    if ranked is None:
        return None
    scores = tuple(each.score for each in ranked)
    known = any(each is not None for each in scores)
    return Rerank(ids=tuple(each.id for each in ranked), scores=scores if known else ())


def _ranked(row: Reader) -> Ranked:
    rank = row.whole("rank")
    return Ranked(
        row.needed("id"), row.refuse("rank", None, "an integer") if rank is None else rank, row.number("score")
    )


def _filtered(path: Reader) -> Filtered | None:
    row = path.inner("filtered")
    if row is None:
        return None
    dropped = _each(row, "dropped", lambda drop: Drop(drop.needed("id"), drop.text("reason"), drop.text("step")))
    return Filtered(kept=row.texts("kept"), dropped=dropped or ())


def _permission(row: Reader) -> Permission:
    decision = row.word("decision", _DECISIONS)
    if decision is None:
        row.refuse("decision", None, "allow or deny")
    return Permission(row.needed("id"), decision, row.text("reason"), row.text("policy"))


def _context(path: Reader) -> ContextAssembly | None:
    rows, dropped = path.rows("context"), path.rows("context_dropped") or []
    if rows is None:
        return None
    kept = tuple(row.ranges("kept") for row in rows)
    return ContextAssembly(
        ids=tuple(row.needed("id") for row in rows),
        tokens=_column(rows, lambda row: row.whole("tokens")),
        truncated=_column(rows, lambda row: row.flag("truncated")),
        kept=kept if any(kept) else (),
        duplicate_of=_texts(rows, "duplicate_of"),
        dropped=tuple(row.needed("id") for row in dropped),
        dropped_reasons=_texts(dropped, "reason"),
        budget=_budget(path),
        tokenizer=path.text("context_tokenizer"),
    )


def _budget(path: Reader) -> Budget | None:
    row = path.inner("budget")
    if row is None:
        return None
    return Budget(limit=row.whole("limit"), used=row.whole("used"), tokenizer=row.text("tokenizer"))


def _answer(row: Reader) -> Answer:
    return Answer(
        outcome=row.word("outcome", OUTCOMES),
        content=_content(row, "text", "length", "digest"),
        confidence=row.number("confidence"),
    )


def _citations(path: Reader) -> Citations | None:
    rows = path.rows("citations")
    if rows is None:
        return None
    return Citations(
        ids=tuple(row.needed("id") for row in rows),
        markers=_texts(rows, "marker"),
        starts=_column(rows, lambda row: row.whole("start")),
        ends=_column(rows, lambda row: row.whole("end")),
        valid=_column(rows, lambda row: row.flag("valid")),
    )


def _generation(row: Reader) -> Step[Generation]:
    context, finish_reason = row.texts("context"), row.text("finish_reason")
    stage = Generation(
        role=row.text("role"),
        model=row.text("model"),
        provider=row.text("provider"),
        input_tokens=row.whole("input_tokens"),
        output_tokens=row.whole("output_tokens"),
        cached_tokens=row.whole("cached_tokens"),
        cache_write_tokens=row.whole("cache_write_tokens"),
        reasoning_tokens=row.whole("reasoning_tokens"),
        finish_reasons=() if finish_reason is None else (finish_reason,),
        cache_hit=row.flag("cache_hit"),
        context=None if context is None else ContextAssembly(ids=context),
    )
    return Step(stage, row.number("latency_ms"), row.text("error"), row.number("cost_usd"))


def _tool(row: Reader) -> Step[ToolCall]:
    stage = ToolCall(name=row.text("name"), call_id=row.text("call_id"))
    return Step(stage, row.number("latency_ms"), row.text("error"))


def _node(row: Reader) -> Step[Node]:
    stage = Node(
        name=row.needed("name"),
        step=row.whole("step"),
        task_id=row.text("task_id"),
        checkpoint_id=row.text("checkpoint_id"),
        checkpoint_ns=row.text("checkpoint_ns"),
        attempt=row.whole("attempt"),
        outcome=row.word("outcome", NODE_OUTCOMES),
        asked=_content(row, "asked", "asked_length", "asked_digest"),
        answered=_content(row, "answered", "answered_length", "answered_digest"),
    )
    return Step(stage, row.number("latency_ms"))


def _verdict(row: Reader) -> Verdict:
    passed = row.flag("passed")
    return Verdict(
        passed=row.refuse("passed", None, "true or false") if passed is None else passed,
        node=row.text("node"),
        step=row.whole("step"),
        draft=_content(row, "draft", "draft_length", "draft_digest"),
        final=row.flag("final"),
    )
