"""What ties a review to the very answer and evidence that it judged (contracts 5)."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Iterator

import orjson

from rag_probe.path import EvidencePath
from rag_probe.stages import Content


def evidence_version(path: EvidencePath) -> str | None:
    """SHA-256 of the compact JSON list of [id, revision or null] of the final context, in order; None without one."""
    context, retrieved = path.context, path.retrieved
    if context is None:
        return None
    known = (
        {}
        if retrieved is None or not retrieved.revisions
        else dict(zip(retrieved.ids, retrieved.revisions, strict=True))
    )
    rows = [[each, known.get(each)] for each in context.ids]
    return hashlib.sha256(_compact(rows)).hexdigest()


def _compact(rows: list[list[str | None]]) -> bytes:
    """JSON in UTF-8 without spaces, non-ASCII unescaped."""
    try:
        return orjson.dumps(rows)
    except TypeError:  # an unpaired surrogate
        return json.dumps(rows, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "replace")


def answer_digests(path: EvidencePath, key: bytes | None) -> frozenset[str]:
    """Every digest by which a review may name this answer: the recorded one, and those of a text that is whole."""
    content = None if path.answer is None else path.answer.content
    return frozenset() if content is None else content_digests(content, key)


def content_digests(content: Content, key: bytes | None) -> frozenset[str]:
    """Every digest by which a review may name a text."""
    return frozenset(_digests(content.text, content.length, content.digest, key))


def _digests(text: str | None, length: int | None, recorded: str | None, key: bytes | None) -> Iterator[str]:
    if recorded is not None:
        yield recorded
    if text is not None and length in (None, len(text)):
        data = text.encode("utf-8", "replace")
        yield hashlib.sha256(data).hexdigest()
        if key is not None:
            yield hmac.new(key, data, hashlib.sha256).hexdigest()
