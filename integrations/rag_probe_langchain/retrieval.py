"""A retriever's run as a Retrieval; where other searches ran inside it, also what it made of their passages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Final

from rag_probe import attributes as a
from rag_probe.attributes import Value
from rag_probe.stages import Chunks, Rerank, Retrieval
from rag_probe.wire.retrieval import encode_plain, encode_rerank, encode_retrieval
from rag_probe_langchain.documents import bare
from rag_probe_langchain.flow import verdict
from rag_probe_langchain.hits import with_hits
from rag_probe_langchain.known import found, passed, union
from rag_probe_langchain.parents import Made, Source, origins, with_parents
from rag_probe_langchain.run import Ids, Inner, Run
from rag_probe_langchain.scan import sequence
from rag_probe_langchain.spans import add_stage

_TOP_K: Final = ("gen_ai.retrieval.top_k", "top_k", "k")
"""Metadata keys of a retriever's own settings."""
_GUESSED: Final = ("retrieved",)


def retrieval_ended(run: Run, outputs: object, ended: int) -> dict[str, Value]:
    """Note what came back, and say it; nothing of it when the retriever failed, or gave what are no passages."""
    passages = sequence(outputs)
    if passages is None:
        return retrieval_attributes(run, run.inputs, None)
    usual = _usual(run, passages)
    if usual is not None:
        return usual
    if passages and not bare(passages):
        return retrieval_attributes(run, run.inputs, None)
    made = returned(run, passages, ended)
    said = retrieval_attributes(run, run.inputs, made.chunks)
    if made.guessed:
        said[a.INFERRED] = _GUESSED
    return said


def _usual(run: Run, passages: Sequence[object]) -> dict[str, Value] | None:
    """The same of a search that did nothing but return a usual list, with content off; None for all else."""
    request = run.request
    policy = request.options.policy
    if policy.content or run.candidates or run.hits or len(passages) > policy.max_items:
        return None
    columns = request.documents.add_plain(passages)
    if columns is None:
        return None
    _came_back(run, passages, columns.ids, columns.scores)
    query = policy.content_of(run.inputs) if isinstance(run.inputs, str) else None
    return encode_plain(run.name, query, _top_k(run), columns)


def returned(run: Run, passages: Sequence[object], ended: int) -> Made:
    """A retrieval gave back `passages`: for what stands around it they are one search's, whatever ran inside it."""
    documents = run.request.documents
    seen = _scores_seen(run) if run.candidates else {}
    chunks = documents.add(passages)
    if run.hits:
        chunks = with_hits(run, chunks)
    made = Made(chunks)
    if run.candidates:
        keys = run.request.options.policy.score_keys
        sources = [Source(inner.passages, inner.ids) for inner in run.candidates]
        made = with_parents(chunks, passages, sources, keys)
        _ranked(run, made.chunks, seen, ended)
    _came_back(run, passages, chunks.ids, chunks.scores)
    return made


def _came_back(run: Run, passages: Sequence[object], ids: Ids, scores: Sequence[float | None]) -> None:
    rescored = run.request.documents.scores.rescored
    if rescored:
        rescored.difference_update(ids)
    found(run.parent, run.request, Inner(passages, ids, scores, run.started))
    passed(run.parent, run.request, ids)


def retrieval_attributes(run: Run, query: object, chunks: Chunks | None) -> dict[str, Value]:
    """The stage as attributes."""
    policy = run.request.options.policy
    candidates = None if run.candidates is None else Chunks(ids=_candidates(run.candidates))
    allowed = policy.without_content if run.held.inputs else policy
    if run.held.outputs and chunks is not None:
        chunks = replace(chunks, texts=())
    stage = Retrieval(
        name=run.name,
        query=allowed.content_of(query) if isinstance(query, str) else None,
        top_k=_top_k(run),
        documents=chunks,
        candidates=candidates,
    )
    return encode_retrieval(stage, policy.max_items)


def _candidates(searches: Sequence[Inner]) -> Ids:
    """In the order in which the searches began: those that run side by side end as they like."""
    return union([inner.ids for inner in sorted(searches, key=attrgetter("started"))])


def _ranked(run: Run, chunks: Chunks, seen: dict[str, set[float | None]], ended: int) -> None:
    """Another order than that of the one list it was given, or scores that no search gave, are a reranking.

    What fell out is the difference to the candidates. Several lists have no order that could be changed: a fusion.
    """
    came = origins(chunks)
    lists = {ids for ids in run.results or () if ids}
    pairs = zip(came, chunks.scores, strict=False)
    rescored = any(score is not None and name in seen and score not in seen[name] for name, score in pairs)
    source = lists.pop() if len(lists) == 1 else came
    if verdict(source, came, rescored=rescored, ranks=True).reranked:
        stage = Rerank(step=run.name, ids=chunks.ids, scores=chunks.scores if rescored else ())
        add_stage(run, encode_rerank(stage, run.request.options.policy.max_items), ended, late=True)


def _scores_seen(run: Run) -> dict[str, set[float | None]]:
    """Every score that a candidate has had, from the searches inside and from what came after them."""
    seen: dict[str, set[float | None]] = {}
    latest = run.request.documents.scores.latest
    for inner in run.candidates or ():
        for name, score in zip(inner.ids, inner.scores or (None,) * len(inner.ids), strict=True):
            seen.setdefault(name, {latest.get(name)}).add(score)
    return seen


def _top_k(run: Run) -> int | None:
    if run.metadata.keys().isdisjoint(_TOP_K):
        return None
    for key in _TOP_K:
        value = run.metadata.get(key)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    return None
