"""Which passage a Document is: a chain of rules, and the columns that may leave with its id."""

from __future__ import annotations

import hashlib
import hmac
import math
from collections.abc import Sequence
from typing import Final, SupportsFloat
from uuid import UUID

from langchain_core.documents import Document

from rag_probe.policy import CapturePolicy
from rag_probe.stages import Chunks

_LONGEST: Final = 256
"""Characters of an id or another identity value; longer ones are cut."""
_SHORTEST: Final = 32
"""Characters below which a text could be guessed from its unkeyed hash."""
_OFFSETS: Final = ("start_index", "chunk_index", "offset", "seq_num")


def identify(documents: Sequence[Document], policy: CapturePolicy, seen: int) -> Chunks:
    """The columns of `documents`; `seen` passages came before them in this request (for those without any identity)."""
    metadata = [document.metadata for document in documents]
    keys: set[object] = set().union(*metadata)
    ids, rules = _ids(documents, keys, policy, seen)
    return Chunks(
        ids=ids,
        id_rules=rules,
        documents=_words(metadata, policy.document_keys, keys),
        revisions=_words(metadata, policy.revision_keys, keys),
        tenants=_words(metadata, policy.tenant_keys, keys),
        scores=scores_of(metadata, policy.score_keys, keys),
        texts=tuple(policy.text(document.page_content) for document in documents) if policy.content else (),
    )


def scores_of(
    metadata: Sequence[dict[str, object]], wanted: Sequence[str], keys: set[object]
) -> tuple[float | None, ...]:
    """The first known score of each passage; `()` when none has one."""
    column = _first(metadata, wanted, keys)
    return tuple(number(value) for value in column) if column else ()


def number(value: object) -> float | None:
    """A finite float of anything that is a number, numpy's included; else None."""
    if isinstance(value, (str, bytes, bool)) or not isinstance(value, SupportsFloat):
        return None
    try:
        result = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return result if math.isfinite(result) else None


def word(value: object) -> str | None:
    """An identity value as text, cut where it is too long; None for what is none."""
    match value:
        case str():
            return value[:_LONGEST] or None
        case bool() | None:
            return None
        case int() | UUID():
            return str(value)[:_LONGEST]
        case _:
            return None


def _ids(
    documents: Sequence[Document], keys: set[object], policy: CapturePolicy, seen: int
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    plain = tuple([document.id for document in documents])
    if all(plain) and len(max(plain, key=len, default="") or "") <= _LONGEST:  # the usual case, at C speed
        return plain, ()  # type: ignore[return-value]  # None was just excluded
    wanted = [key for key in policy.id_keys if key in keys]
    pairs = [_identity(document, wanted, policy, seen + place) for place, document in enumerate(documents, 1)]
    return tuple(name for name, _ in pairs), tuple(rule for _, rule in pairs)


def _identity(document: Document, wanted: Sequence[str], policy: CapturePolicy, ordinal: int) -> tuple[str, str]:
    if own := word(document.id):
        return own, "id"
    metadata: dict[str, object] = document.metadata
    for key in wanted:
        if name := word(metadata.get(key)):
            return name, "metadata"
    source = word(metadata.get("source"))
    if source:
        for key in _OFFSETS:
            if (offset := word(metadata.get(key))) is not None:
                return f"{source}#{offset}", "source"
    return _hashed(document.page_content, policy, ordinal)


def _hashed(text: str, policy: CapturePolicy, ordinal: int) -> tuple[str, str]:
    data = text.encode("utf-8", "replace")
    if policy.digest_key is not None:
        return hmac.new(policy.digest_key, data, hashlib.sha256).hexdigest()[:32], "content"
    if policy.content or len(text) >= _SHORTEST:
        return hashlib.sha256(data).hexdigest()[:32], "content"
    return f"#{ordinal}", "position"


def _words(metadata: Sequence[dict[str, object]], wanted: Sequence[str], keys: set[object]) -> tuple[str | None, ...]:
    column = _first(metadata, wanted, keys)
    return tuple(word(value) for value in column) if column else ()


def _first(metadata: Sequence[dict[str, object]], wanted: Sequence[str], keys: set[object]) -> list[object]:
    """Per passage, the value under the first of the `wanted` keys that it has; `[]` when no passage has any."""
    known = [key for key in wanted if key in keys]
    if not known:
        return []
    if len(known) == 1:
        return [item.get(known[0]) for item in metadata]
    return [next((item[key] for key in known if item.get(key) is not None), None) for item in metadata]
