"""paths.jsonl: the evidence paths that were scored, one a line; without texts unless content is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from rag_probe.path import EvidencePath
from rag_probe.path_json import Json, to_json
from rag_probe_collector.reports.dump import dump

_TEXTS: Final = frozenset({"question", "query", "text", "asked", "answered", "draft"})


def paths_jsonl(paths: Iterable[EvidencePath], *, with_content: bool) -> bytes:
    """Contracts 2, one object a line."""
    objects = (to_json(path) for path in paths)
    return b"".join(dump(each if with_content else _without_texts(each)) + b"\n" for each in objects)


def _without_texts(value: Json) -> Json:
    match value:
        case str():
            return value
        case Mapping():
            return {name: _without_texts(each) for name, each in value.items() if name not in _TEXTS}
        case Sequence():
            return [_without_texts(each) for each in value]
        case _:
            return value
