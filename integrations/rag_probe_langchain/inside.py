"""What the body of a retriever did, told by who stands around its parts: a search of a store, a compressor.

Called under the question's lock, with the retriever's open run. What is told here is not inferred again at its end.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rag_probe import attributes as a
from rag_probe.stages import Filtering, Rerank, Retrieval
from rag_probe.wire import encode
from rag_probe_langchain.flow import is_moved
from rag_probe_langchain.known import found, passed
from rag_probe_langchain.parents import Source, with_parents
from rag_probe_langchain.request import StageSpan
from rag_probe_langchain.run import Inner, Run


class Ran(NamedTuple):
    """A part that ran: its name, and its times in nanoseconds since the epoch."""

    name: str
    started: int
    ended: int


def searched(run: Run, part: Ran, query: str | None, hits: Sequence[object], parents: Sequence[object] = ()) -> None:
    """A store was searched: its hits are candidates; `parents` are the passages that were looked up for them."""
    documents, policy = run.request.documents, run.request.options.policy
    sources = [Source(parents, documents.add(parents).ids)] if parents else []
    chunks = with_parents(documents.add(hits), hits, sources, policy.score_keys).chunks
    documents.rescored.difference_update(chunks.ids)
    found(run, run.request, Inner(hits, chunks.ids, chunks.scores, part.started))
    passed(run, run.request, chunks.ids)
    asked = None if query is None else policy.content_of(query)
    stage = Retrieval(name=part.name, query=asked, documents=chunks)
    _write(run, "retrieval", part, encode(stage, policy.max_items))


def compressed(run: Run, part: Ran, before: Sequence[object], after: Sequence[object]) -> None:
    """A compressor turned `before` into `after`: a Rerank where order or scores changed, else a Filtering.

    What a reranker leaves out was ranked too low: the candidates of the retrieval tell.
    """
    documents, policy = run.request.documents, run.request.options.policy
    source = documents.before(before)
    scores = {name: documents.scores.get(name) for name in source}
    chunks = with_parents(documents.add(after), after, [Source(before, source)], policy.score_keys).chunks
    origins = [parent or name for name, parent in zip(chunks.ids, chunks.parents or chunks.ids, strict=True)]
    pairs = zip(origins, chunks.scores, strict=False)
    rescored = any(score is not None and score != scores.get(name, score) for name, score in pairs)
    moved = is_moved(source, origins)
    if rescored or moved:
        rerank = Rerank(step=part.name, ids=chunks.ids, scores=chunks.scores if rescored else ())
        _write(run, f"rag.rerank {part.name}", part, encode(rerank, policy.max_items))
    left = set(origins)
    dropped = tuple([name for name in dict.fromkeys(source) if name not in left])
    if dropped and not (rescored or moved):
        stage = Filtering(step=part.name, kept=chunks.ids, dropped=dropped)
        _write(run, f"rag.filter {part.name}", part, encode(stage, policy.max_items))
    found(run, run.request, Inner(after, chunks.ids, chunks.scores, part.started))
    passed(run, run.request, chunks.ids, source)


def _write(run: Run, title: str, part: Ran, attributes: dict[str, a.Value]) -> None:
    run.request.pending.append(StageSpan(run, title, attributes, part.started, part.ended))
