"""A retriever's run as a Retrieval."""

from __future__ import annotations

from rag_probe.attributes import Value
from rag_probe.stages import Chunks, Retrieval
from rag_probe.wire import encode
from rag_probe_langchain.known import arrived, passed
from rag_probe_langchain.run import Run
from rag_probe_langchain.scan import sequence

_TOP_K = ("gen_ai.retrieval.top_k", "top_k", "k")
"""Metadata keys of a retriever's own settings."""


def retrieval_ended(run: Run, outputs: object, _ended: int) -> dict[str, Value]:
    """Note what came back, and say it; nothing of it when the retriever failed."""
    chunks = None
    passages = sequence(outputs)
    if passages is not None:
        chunks = run.request.documents.add(passages)
        run.request.documents.rescored.difference_update(chunks.ids)
        outer = run.retriever
        if outer is None:
            arrived(run.request, chunks.ids)
            passed(run, chunks.ids)
        else:
            outer.candidates = {**(outer.candidates or {}), **dict.fromkeys(chunks.ids)}
    return retrieval_attributes(run, run.inputs, chunks)


def retrieval_attributes(run: Run, query: object, chunks: Chunks | None) -> dict[str, Value]:
    """The stage as attributes."""
    policy = run.request.options.policy
    stage = Retrieval(
        name=run.name,
        query=policy.content_of(query) if isinstance(query, str) else None,
        top_k=_top_k(run),
        documents=chunks,
        candidates=None if run.candidates is None else Chunks(ids=tuple(run.candidates)),
    )
    return encode(stage, policy.max_items)


def _top_k(run: Run) -> int | None:
    for key in _TOP_K:
        value = run.metadata.get(key)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    return None
