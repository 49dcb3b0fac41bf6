"""What a path does not hold, by the names of its fields (contracts 2).

A list that was cut at the writer's cap keeps what came through, and is named all the same: no verdict that needs all of
it can be reached.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rag_probe.path import EvidencePath
from rag_probe.stages import Content
from rag_probe_collector.assembly.record import Record


def gaps(path: EvidencePath, record: Record, noted: Iterable[str]) -> tuple[str, ...]:
    """Names in the order of the path's fields, those that the spans themselves noted last; each once."""
    return tuple(dict.fromkeys((*_absent(path), *_inside(path), *_cut(path, record), *record.unread, *noted)))


def _absent(path: EvidencePath) -> Iterator[str]:
    if _text(path.question) is None:
        yield "question"
    for name, value in (
        ("retrievals", path.retrievals),
        ("retrieved", path.retrieved),
        ("reranked", path.reranked),
        ("filtered", path.filtered),
        ("permissions", path.permissions),
        ("context", path.context),
        ("budget", path.budget),
        ("answer", path.answer),
        ("citations", path.citations),
        ("generations", path.generations),
        ("tools", path.tools),
        ("nodes", path.nodes),
    ):
        if value is None:
            yield name
    if path.answer is None or path.answer.outcome is None:
        yield "answer.outcome"
    if path.answer is not None and _text(path.answer.content) is None:
        yield "answer.text"
    if path.latency_ms is None:
        yield "latency_ms"
    if path.cost_usd is None:
        yield "cost_usd"


def _inside(path: EvidencePath) -> Iterator[str]:
    """Fields of the rows of a list that are missing in at least one."""
    for step in path.retrievals or ():
        if _text(step.stage.query) is None:
            yield "retrievals.query"
        if step.stage.documents is None and step.error is None:
            yield from ("retrieved", "retrievals.documents")
    for step in path.generations or ():
        if step.stage.input_tokens is None:
            yield "generations.input_tokens"
        if step.stage.output_tokens is None:
            yield "generations.output_tokens"
        if step.stage.context is None:
            yield "generations.context"
        if step.cost_usd is None:
            yield "generations.cost_usd"


def _cut(path: EvidencePath, record: Record) -> Iterator[str]:
    for names, count, listed in _lists(path, record):
        if count is not None and count > len(listed):
            yield from names


def _lists(  # noqa: C901  # one loop for each list
    path: EvidencePath, record: Record
) -> Iterator[tuple[tuple[str, ...], int | None, Sequence[object]]]:
    """Every list that a writer may have cut: the names of what it fills, its true length, and what came through."""
    for step in path.retrievals or ():
        if step.stage.documents is not None:
            yield ("retrieved", "retrievals.documents"), step.stage.documents.count, step.stage.documents.ids
        if step.stage.candidates is not None:
            yield ("retrievals.candidates",), step.stage.candidates.count, step.stage.candidates.ids
    for ran in record.reranks[-1:]:
        yield ("reranked",), ran.stage.count, ran.stage.ids
    for ran in record.filters:
        yield ("filtered.dropped",), ran.stage.dropped_count, ran.stage.dropped
    for ran in record.filters[-1:]:
        yield ("filtered.kept",), ran.stage.kept_count, ran.stage.kept
    for ran in record.permissions:
        yield ("permissions",), ran.stage.count, ran.stage.ids
    if path.context is not None:
        yield ("context",), path.context.count, path.context.ids
        yield ("context_dropped",), path.context.dropped_count, path.context.dropped
    for step in path.generations or ():
        if step.stage.context is not None:
            yield ("generations.context",), step.stage.context.count, step.stage.context.ids
    if path.citations is not None:
        yield ("citations",), path.citations.count, path.citations.ids


def _text(content: Content | None) -> str | None:
    return content.text if content is not None else None
