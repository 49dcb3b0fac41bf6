"""What the spans of a question do not hold beside what its path lacks: lists of decisions that were cut on the way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rag_probe.gaps import cut, gaps
from rag_probe.path import EvidencePath
from rag_probe.stages import Filtering, PermissionCheck, Rerank
from rag_probe_collector.assembly.record import Record


def not_captured(path: EvidencePath, record: Record, noted: Iterable[str]) -> tuple[str, ...]:
    """Names in the order of the path's fields, those that the spans themselves noted last; each once."""
    return tuple(dict.fromkeys((*gaps(path), *_decisions(record), *record.unread(), *noted)))


def _decisions(record: Record) -> Iterator[str]:
    for ran in record.of(Rerank)[-1:]:
        yield from cut(ran.stage.count, ran.stage.ids, "reranked")
    for ran in record.of(Filtering)[-1:]:
        yield from cut(ran.stage.kept_count, ran.stage.kept or (), "filtered.kept")
    for ran in record.of(Filtering):
        yield from cut(ran.stage.dropped_count, ran.stage.dropped, "filtered.dropped")
    for ran in record.of(PermissionCheck):
        yield from cut(ran.stage.count, ran.stage.ids, "permissions")
