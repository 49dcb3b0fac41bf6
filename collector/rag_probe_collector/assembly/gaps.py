"""What a path does not hold, by the names of its fields (contracts 2).

A list that was cut at the writer's cap keeps what came through, and is named all the same: no verdict that needs all of
it can be reached.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from rag_probe.path import EvidencePath, Step
from rag_probe.stages import Content, Filtering, Generation, PermissionCheck, Rerank, Retrieval
from rag_probe_collector.assembly.record import Record

_STAGES: Final = (
    "retrievals",
    "retrieved",
    "reranked",
    "filtered",
    "permissions",
    "context",
    "budget",
    "answer",
    "citations",
    "generations",
    "tools",
    "nodes",
    "latency_ms",
    "cost_usd",
)
"""Fields that are absent only when nobody recorded them."""


def gaps(path: EvidencePath, record: Record, noted: Iterable[str]) -> tuple[str, ...]:
    """Names in the order of the path's fields, those that the spans themselves noted last; each once."""
    names = [name for name in _STAGES if getattr(path, name) is None]
    if _text(path.question) is None:
        names.insert(0, "question")
    if path.answer is None or path.answer.outcome is None:
        names.append("answer.outcome")
    if path.answer is not None and _text(path.answer.content) is None:
        names.append("answer.text")
    for step in path.retrievals or ():
        _in_retrieval(names, step)
    for step in path.generations or ():
        _in_generation(names, step)
    _in_decisions(names, record)
    if path.context is not None:
        _cut(names, path.context.count, path.context.ids, "context")
        _cut(names, path.context.dropped_count, path.context.dropped, "context_dropped")
    if path.citations is not None:
        _cut(names, path.citations.count, path.citations.ids, "citations")
    return tuple(dict.fromkeys((*names, *record.unread(), *noted)))


def _in_retrieval(names: list[str], step: Step[Retrieval]) -> None:
    stage = step.stage
    if _text(stage.query) is None:
        names.append("retrievals.query")
    if stage.documents is not None:
        _cut(names, stage.documents.count, stage.documents.ids, "retrieved", "retrievals.documents")
    elif step.error is None:
        names += ("retrieved", "retrievals.documents")
    if stage.candidates is not None:
        _cut(names, stage.candidates.count, stage.candidates.ids, "retrievals.candidates")


def _in_generation(names: list[str], step: Step[Generation]) -> None:
    stage = step.stage
    if stage.input_tokens is None:
        names.append("generations.input_tokens")
    if stage.output_tokens is None:
        names.append("generations.output_tokens")
    if stage.context is None:
        names.append("generations.context")
    else:
        _cut(names, stage.context.count, stage.context.ids, "generations.context")
    if step.cost_usd is None:
        names.append("generations.cost_usd")


def _in_decisions(names: list[str], record: Record) -> None:
    for ran in record.of(Rerank)[-1:]:
        _cut(names, ran.stage.count, ran.stage.ids, "reranked")
    for ran in record.of(Filtering)[-1:]:
        _cut(names, ran.stage.kept_count, ran.stage.kept, "filtered.kept")
    for ran in record.of(Filtering):
        _cut(names, ran.stage.dropped_count, ran.stage.dropped, "filtered.dropped")
    for ran in record.of(PermissionCheck):
        _cut(names, ran.stage.count, ran.stage.ids, "permissions")


def _cut(names: list[str], count: int | None, listed: Sequence[object], *fields: str) -> None:
    """A list shorter than it was: what it fills is not captured."""
    if count is not None and count > len(listed):
        names += fields


def _text(content: Content | None) -> str | None:
    return content.text if content is not None else None
