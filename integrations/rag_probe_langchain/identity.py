"""Which passage a Document is: a chain of rules, and the columns that may leave with its id."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from math import isfinite
from typing import Final

from langchain_core.documents import Document

from rag_probe.identifiers import MAX_ID, identifier
from rag_probe.measured import number
from rag_probe.policy import CapturePolicy
from rag_probe.stages import Chunks
from rag_probe_langchain.keyed import first_of, keyed
from rag_probe_langchain.rows import Metadata, Rows, rows_of

_SHORTEST: Final = 32
"""Characters below which a text could be guessed from its unkeyed hash."""
_OFFSETS: Final = ("start_index", "chunk_index", "offset", "seq_num")
_LARGE: Final = 2**63
_STR: Final = {str}
_INT: Final = {int}
_FLOAT: Final = {float}


def identify(documents: Sequence[Document], policy: CapturePolicy, seen: int) -> Chunks:
    """`columns_of` these passages."""
    return columns_of(rows_of(documents), policy, seen)


def columns_of(rows: Rows, policy: CapturePolicy, seen: int) -> Chunks:
    """The columns of these passages. `id_rules` is empty when `Document.id` gave every id.

    The rules: `id`; `metadata` (one of the policy's keys); `source` (with an offset); `content` (a hash, keyed when
    there is a key); `position` (the text is too short for an unkeyed hash: its number among the passages of the
    question, of which `seen` came before).
    """
    ids, rules = _ids(rows, policy, seen)
    wanted = (policy.document_keys, policy.revision_keys, policy.tenant_keys, policy.score_keys)
    documents, revisions, tenants, scores = keyed(rows.metadata, wanted)
    return Chunks(
        ids=ids,
        id_rules=rules,
        documents=_words(documents),
        revisions=_words(revisions),
        tenants=_words(tenants),
        scores=_scores(scores),
        texts=tuple([policy.text(text) for text in rows.texts]) if policy.content else (),
    )


def scores_of(documents: Sequence[Document], policy: CapturePolicy) -> tuple[float | None, ...]:
    """The score of each, a reranker's before the retriever's; None where there is none."""
    metadata = rows_of(documents).metadata
    column = first_of(metadata, policy.score_keys, set[str]().union(*metadata))
    return _scores(column) or (None,) * len(documents)


def _ids(rows: Rows, policy: CapturePolicy, seen: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    own = rows.names
    if set(map(type, own)) == _STR and all(own) and _are_short(own):
        return tuple(own), ()  # pyright: ignore[reportReturnType] - just checked
    present = set[str]().union(*rows.metadata)
    wanted = [key for key in policy.id_keys if key in present]
    pairs = [_identity(*row, wanted, policy, seen + place) for place, row in enumerate(zip(*rows, strict=True), 1)]
    rules = tuple([rule for _, rule in pairs])
    return tuple([name for name, _ in pairs]), rules if set(rules) - {"id"} else ()


def _identity(
    own: object, text: str, metadata: Metadata, wanted: Sequence[str], policy: CapturePolicy, ordinal: int
) -> tuple[str, str]:
    if name := identifier(own):
        return name, "id"
    for key in wanted:
        if name := identifier(metadata.get(key)):
            return name, "metadata"
    if source := identifier(metadata.get("source")):
        for key in _OFFSETS:
            if (offset := identifier(metadata.get(key))) and offset.isdecimal():
                return f"{source}#{offset}", "source"
    return _hashed(text, policy, ordinal)


def _hashed(text: str, policy: CapturePolicy, ordinal: int) -> tuple[str, str]:
    data = text.encode("utf-8", "replace")
    if policy.digest_key is not None:
        return hmac.new(policy.digest_key, data, hashlib.sha256).hexdigest()[:32], "content"
    if policy.clear or len(text) >= _SHORTEST:
        return hashlib.sha256(data).hexdigest()[:32], "content"
    return f"#{ordinal}", "position"


def _scores(column: Sequence[object]) -> tuple[float | None, ...]:
    if not column:
        return ()
    if set(map(type, column)) == _FLOAT:
        scores: tuple[float, ...] = tuple(column)  # pyright: ignore[reportAssignmentType] - just checked
        if isfinite(sum(scores)):
            return scores
    numbers = tuple([number(value) for value in column])
    return numbers if any(value is not None for value in numbers) else ()


def _words(column: Sequence[object]) -> tuple[str | None, ...]:
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
