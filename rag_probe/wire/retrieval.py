"""Retrieval and Rerank as attributes."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter, itemgetter
from typing import Final, NamedTuple

from rag_probe import attributes as a
from rag_probe.attributes import Attributes, Value
from rag_probe.stages import Chunks, Content, Rerank, Retrieval
from rag_probe.wellformed import well_formed
from rag_probe.wire.columns import (
    Texts,
    get,
    get_column,
    get_count,
    get_ids,
    put,
    put_column,
    put_columns,
    put_count,
    put_known,
    put_texts,
)
from rag_probe.wire.content import Names, get_content, put_content

_WORDS: Final = {
    a.RETRIEVAL_IDS: "ids",
    a.RETRIEVAL_DOCUMENTS: "documents",
    a.RETRIEVAL_REVISIONS: "revisions",
    a.RETRIEVAL_TENANTS: "tenants",
    a.RETRIEVAL_ID_RULES: "id_rules",
    a.RETRIEVAL_PARENTS: "parents",
}
_WORDS_OF: Final[Callable[[Chunks], tuple[Texts, ...]]] = attrgetter(*_WORDS.values())
_PLAIN: Final = (
    a.RETRIEVAL_IDS,
    a.RETRIEVAL_DOCUMENTS,
    a.RETRIEVAL_REVISIONS,
    a.RETRIEVAL_TENANTS,
    a.RETRIEVAL_SCORES,
)
_COLUMN: Final[Callable[[tuple[str, Value]], Value]] = itemgetter(1)
_QUERY: Final = Names(a.RETRIEVAL_QUERY_LENGTH, a.RETRIEVAL_QUERY_DIGEST, a.RETRIEVAL_QUERY_TEXT)


def encode_retrieval(stage: Retrieval, cap: int) -> dict[str, Value]:
    """`documents is None` writes no list at all: not captured."""
    out: dict[str, Value] = {a.OPERATION: "retrieval", a.STAGE: "retrieval"}
    if stage.documents is not None:
        _put_chunks(out, stage.documents, cap)
    put_known(out, (a.STEP_NAME, stage.name), (a.RETRIEVAL_TOP_K, stage.top_k))
    put_content(out, _QUERY, stage.query)
    if stage.candidates is not None:
        ids = stage.candidates.ids
        put_column(out, a.RETRIEVAL_CANDIDATES, ids, cap)
        put_count(out, a.RETRIEVAL_CANDIDATES_COUNT, len(ids), stage.candidates.count, cap)
    return out


class Plain(NamedTuple):
    """Columns of Chunks that may be sent as they are: short ASCII texts, finite numbers, no gap. `()`: none has any."""

    ids: tuple[str, ...]
    documents: tuple[str, ...]
    revisions: tuple[str, ...]
    tenants: tuple[str, ...]
    scores: tuple[float, ...]


def encode_plain(name: str, query: Content | None, top_k: int | None, columns: Plain) -> dict[str, Value]:
    """`encode_retrieval` of a stage without candidates whose documents are these, of which none is cut."""
    out: dict[str, Value] = {a.OPERATION: "retrieval", a.STAGE: "retrieval", a.RETRIEVAL_COUNT: len(columns.ids)}
    out.update(filter(_COLUMN, zip(_PLAIN, columns, strict=True)))
    out[a.STEP_NAME] = well_formed(name)
    put(out, a.RETRIEVAL_TOP_K, top_k)
    put_content(out, _QUERY, query)
    return out


def decode_retrieval(attributes: Attributes) -> Retrieval:
    """The inverse of `encode_retrieval`."""
    candidates = get_ids(attributes, a.RETRIEVAL_CANDIDATES, a.RETRIEVAL_CANDIDATES_COUNT)
    return Retrieval(
        name=get(attributes, a.STEP_NAME, str),
        query=get_content(attributes, _QUERY),
        top_k=get(attributes, a.RETRIEVAL_TOP_K, int),
        documents=_get_chunks(attributes),
        candidates=None
        if candidates is None
        else Chunks(ids=candidates, count=get_count(attributes, a.RETRIEVAL_CANDIDATES_COUNT, len(candidates))),
    )


def encode_rerank(stage: Rerank, cap: int) -> dict[str, Value]:
    """Ids in their new order, with the new scores where they are known."""
    out: dict[str, Value] = {a.STAGE: "rerank"}
    put_columns(
        out,
        cap,
        (a.RERANK_IDS, stage.ids),
        (a.RERANK_SCORES, stage.scores),
    )
    put_count(out, a.RERANK_COUNT, len(stage.ids), stage.count, cap)
    put(out, a.STEP_NAME, stage.step)
    return out


def decode_rerank(attributes: Attributes) -> Rerank | None:
    """The inverse of `encode_rerank`; None without ids."""
    ids = get_ids(attributes, a.RERANK_IDS, a.RERANK_COUNT)
    if ids is None:
        return None
    return Rerank(
        step=get(attributes, a.STEP_NAME, str),
        ids=ids,
        scores=get_column(attributes, a.RERANK_SCORES, len(ids), float),
        count=get_count(attributes, a.RERANK_COUNT, len(ids)),
    )


def _put_chunks(out: dict[str, Value], chunks: Chunks, cap: int) -> None:
    out[a.RETRIEVAL_COUNT] = len(chunks.ids) if chunks.count is None else chunks.count
    put_texts(out, cap, _WORDS, _WORDS_OF(chunks))
    put_columns(out, cap, (a.RETRIEVAL_SCORES, chunks.scores), (a.RETRIEVAL_TEXTS, chunks.texts))


def _get_chunks(attributes: Attributes) -> Chunks | None:
    ids = get_ids(attributes, a.RETRIEVAL_IDS, a.RETRIEVAL_COUNT)
    if ids is None:
        return None
    size = len(ids)
    return Chunks(
        ids=ids,
        scores=get_column(attributes, a.RETRIEVAL_SCORES, size, float),
        documents=get_column(attributes, a.RETRIEVAL_DOCUMENTS, size, str),
        revisions=get_column(attributes, a.RETRIEVAL_REVISIONS, size, str),
        tenants=get_column(attributes, a.RETRIEVAL_TENANTS, size, str),
        id_rules=get_column(attributes, a.RETRIEVAL_ID_RULES, size, str),
        parents=get_column(attributes, a.RETRIEVAL_PARENTS, size, str),
        texts=get_column(attributes, a.RETRIEVAL_TEXTS, size, str),
        count=get_count(attributes, a.RETRIEVAL_COUNT, size),
    )
