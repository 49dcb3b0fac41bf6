"""Which passage a Document is: a chain of rules, and the columns that may leave with its id."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Final, TypeAlias

from langchain_core.documents import Document

from rag_probe.identifiers import MAX_ID, identifier
from rag_probe.measured import number
from rag_probe.policy import CapturePolicy
from rag_probe.stages import Chunks

_SHORTEST: Final = 32
"""Characters below which a text could be guessed from its unkeyed hash."""
_OFFSETS: Final = ("start_index", "chunk_index", "offset", "seq_num")
_LARGE: Final = 2**63
_STR: Final = {str}
_INT: Final = {int}
_FLOAT: Final = {float}

Metadata: TypeAlias = Mapping[str, object]


def identify(documents: Sequence[Document], policy: CapturePolicy, seen: int) -> Chunks:
    """The columns of `documents`. `id_rules` is empty when `Document.id` gave every id.

    The rules: `id`; `metadata` (one of the policy's keys); `source` (with an offset); `content` (a hash, keyed when
    there is a key); `position` (the text is too short for an unkeyed hash: its number among the passages of the
    question, of which `seen` came before).
    """
    metadata: list[Metadata] = [document.metadata for document in documents]
    keys: set[str] = set()
    keys.update(*metadata)
    ids, rules = _ids(documents, keys, policy, seen)
    return Chunks(
        ids=ids,
        id_rules=rules,
        documents=_words(metadata, policy.document_keys, keys),
        revisions=_words(metadata, policy.revision_keys, keys),
        tenants=_words(metadata, policy.tenant_keys, keys),
        scores=_scores(metadata, policy.score_keys, keys),
        texts=tuple([policy.text(document.page_content) for document in documents]) if policy.content else (),
    )


def scores_of(documents: Sequence[Document], policy: CapturePolicy) -> tuple[float | None, ...]:
    """The score of each, a reranker's before the retriever's; None where there is none."""
    metadata: list[Metadata] = [document.metadata for document in documents]
    keys: set[str] = set()
    keys.update(*metadata)
    return _scores(metadata, policy.score_keys, keys) or (None,) * len(documents)


def _ids(
    documents: Sequence[Document], keys: set[str], policy: CapturePolicy, seen: int
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    plain = [document.id for document in documents]
    if set(map(type, plain)) == _STR and all(plain) and _are_short(plain):
        return tuple(plain), ()  # pyright: ignore[reportReturnType] - just checked
    wanted = [key for key in policy.id_keys if key in keys]
    pairs = [_identity(document, wanted, policy, seen + place) for place, document in enumerate(documents, 1)]
    rules = tuple([rule for _, rule in pairs])
    return tuple([name for name, _ in pairs]), rules if set(rules) - {"id"} else ()


def _identity(document: Document, wanted: Sequence[str], policy: CapturePolicy, ordinal: int) -> tuple[str, str]:
    if own := identifier(document.id):
        return own, "id"
    metadata: Metadata = document.metadata
    for key in wanted:
        if name := identifier(metadata.get(key)):
            return name, "metadata"
    if source := identifier(metadata.get("source")):
        for key in _OFFSETS:
            if (offset := identifier(metadata.get(key))) and offset.isdecimal():
                return f"{source}#{offset}", "source"
    return _hashed(document.page_content, policy, ordinal)


def _hashed(text: str, policy: CapturePolicy, ordinal: int) -> tuple[str, str]:
    data = text.encode("utf-8", "replace")
    if policy.digest_key is not None:
        return hmac.new(policy.digest_key, data, hashlib.sha256).hexdigest()[:32], "content"
    if policy.clear or len(text) >= _SHORTEST:
        return hashlib.sha256(data).hexdigest()[:32], "content"
    return f"#{ordinal}", "position"


def _scores(metadata: Sequence[Metadata], wanted: Sequence[str], keys: set[str]) -> tuple[float | None, ...]:
    column = _first(metadata, wanted, keys)
    if not column:
        return ()
    if set(map(type, column)) == _FLOAT:
        scores: tuple[float, ...] = tuple(column)  # pyright: ignore[reportAssignmentType] - just checked
        if isfinite(sum(scores)):
            return scores
    numbers = tuple([number(value) for value in column])
    return numbers if any(value is not None for value in numbers) else ()


def _words(metadata: Sequence[Metadata], wanted: Sequence[str], keys: set[str]) -> tuple[str | None, ...]:
    column = _first(metadata, wanted, keys)
    if not column:
        return ()
    kinds = set(map(type, column))
    if kinds == _STR and _are_short(column):
        return tuple(column)  # pyright: ignore[reportReturnType] - just checked
    if kinds == _INT:
        numbers: Sequence[int] = column  # pyright: ignore[reportAssignmentType] - just checked
        if min(numbers) > -_LARGE and max(numbers) < _LARGE:
            return tuple(map(str, numbers))
    words = tuple([identifier(value) for value in column])
    return words if any(words) else ()


def _are_short(column: Sequence[object]) -> bool:
    """Whether these texts may be ids as they stand: at C speed, which is what most columns need."""
    texts: Sequence[str] = column  # pyright: ignore[reportAssignmentType] - as the caller checked
    return max(map(len, texts)) <= MAX_ID and "".join(texts).isascii()


def _first(metadata: Sequence[Metadata], wanted: Sequence[str], keys: set[str]) -> list[object]:
    """Per passage, the value under the first of the `wanted` keys that it has; `[]` when no passage has any."""
    if keys.isdisjoint(wanted):
        return []
    known = [key for key in wanted if key in keys]
    if len(known) < 2:
        key = known[0]
        return [item.get(key) for item in metadata]
    return [next((item[key] for key in known if item.get(key) is not None), None) for item in metadata]
