"""What an app says of a step in LangChain's own words: metadata and tags."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from rag_probe_langchain.run import Mark

KEY: Final = "rag.stage"
ROLE: Final = "rag.generation.role"
POLICY: Final = "rag.permission.policy"

TAG: Final = "rag.stage:"
_MARKS: Final[dict[object, Mark]] = {
    "retrieval": "retrieval",
    "rerank": "rerank",
    "filter": "filter",
    "permission": "permission",
    "context": "context",
}


def mark_of(tags: Sequence[str] | None, metadata: Mapping[str, object]) -> Mark | None:
    """The stage that a step is marked as: `metadata={"rag.stage": "permission"}`, or a tag `rag.stage:permission`.

    LangChain hands both down to what runs inside a step: the same mark inside a marked run is no mark of its own.
    """
    named = metadata.get(KEY) if metadata else None
    if isinstance(named, str):
        return _MARKS.get(named)
    if tags:
        for tag in tags:
            if tag.startswith(TAG):
                return _MARKS.get(tag.removeprefix(TAG))
    return None


def text_of(metadata: Mapping[str, object] | Mapping[object, object], key: str) -> str | None:
    """A word that the app put into the metadata."""
    value = metadata.get(key)
    return value if isinstance(value, str) and value else None
