"""What a store gave to the retriever that asked it: seen where the store's searches are wrapped (instrumenting/)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rag_probe.stages import Chunks
from rag_probe_langchain.known import found, passed
from rag_probe_langchain.run import Inner, Run


def note_hits(run: Run, passages: Sequence[object], started: int) -> None:
    """A search inside the retriever's run gave `passages`, or pairs with their scores.

    One search of a store is often made of another, with scores and without: it is noted once.
    """
    chunks = run.request.documents.add(passages)
    hits = run.hits = run.hits or []
    if all(hit.ids != chunks.ids for hit in hits):
        hit = Inner(passages, chunks.ids, chunks.scores, started)
        hits.append(hit)
        found(run, run.request, hit)
        passed(run, run.request, chunks.ids)


def with_hits(run: Run, chunks: Chunks) -> Chunks:
    """What a retriever returned, with the scores that its store gave. Hits that are just this are no candidates."""
    hits = run.hits or ()
    same = [hit for hit in hits if hit.ids == chunks.ids]
    run.candidates = [each for each in run.candidates or () if not any(each is hit for hit in same)] or None
    scores: dict[str, float | None] = {}
    for hit in hits:
        scores.update(zip(hit.ids, hit.scores, strict=False))
    known = () if chunks.scores else tuple([scores.get(name) for name in chunks.ids])
    return replace(chunks, scores=known) if any(score is not None for score in known) else chunks
