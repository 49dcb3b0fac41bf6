"""Which scheme a bare path means, told by its content."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from rag_probe.protocols import SourceError
from rag_probe_collector.otlp.plain import open_plain
from rag_probe_collector.spool import is_spool

_SQLITE: Final = b"SQLite format 3\0"
_TELEMETRY: Final = (b'"resourceSpans"', b'"resource_spans"', b'"batches"', b'"scopeSpans"')
_PEEK: Final = 64 * 1024


def recognise(location: str) -> str:
    """The scheme of an existing file or directory or of a pattern; raises SourceError when it cannot be told."""
    path = Path(location)
    if path.is_dir() or not path.exists():
        return "otlp"
    if is_spool(path):
        return "spool"
    file, _ = open_plain(path)
    with file:
        head = file.read(_PEEK)
    if head.startswith(_SQLITE):
        raise SourceError(
            f"{location}: a SQLite file but no spool; checkpoints are named checkpoints:sqlite:///{location}"
        )
    return "results" if _is_text(head) and not any(mark in head for mark in _TELEMETRY) else "otlp"


def _is_text(head: bytes) -> bool:
    return head.strip() != b"" and not any(byte < 9 for byte in head[:1024])
