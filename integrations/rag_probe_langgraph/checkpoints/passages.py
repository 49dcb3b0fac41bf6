"""Passages in a channel: what a search returned, else what a step made of those that were there before."""

from __future__ import annotations

from itertools import chain

from rag_probe.path import Drop, Permission, Ranked, Step
from rag_probe.stages import Chunks, Content, ContextAssembly, Retrieval
from rag_probe_langchain.flow import changes
from rag_probe_langchain.known import found, narrowed
from rag_probe_langchain.run import Ids, Inner
from rag_probe_langchain.scan import Found
from rag_probe_langgraph.checkpoints.evidence import Evidence
from rag_probe_langgraph.checkpoints.roles import Role


def read_passages(evidence: Evidence, node: str, channel: str, role: Role | None, listed: Found) -> None:
    """Read one list, by its role; without one, passages that nobody retrieved before are retrieved, others filtered."""
    documents = evidence.request.documents
    before = evidence.last
    chunks = documents.add(listed.passages) if documents.news(listed.passages) else None
    ids = documents.now(listed.passages) if chunks is None else chunks.ids
    evidence.sets[channel] = ids
    if role == "retrieved" or (role is None and (before is None or not _retrieved(evidence).issuperset(ids))):
        evidence.note(channel, "retrieved")
        arrived(evidence, node, chunks or documents.add(listed.passages))
        return
    evidence.note(channel, role or "filtered")
    if role == "permitted":
        _checked(evidence, before or (), ids)
    elif role == "context":
        evidence.context = ContextAssembly(step=node, ids=ids, dropped=_without(before or (), ids))
    else:
        _changed(evidence, node, before or (), ids)


def arrived(evidence: Evidence, name: str, chunks: Chunks, query: Content | None = None) -> None:
    """A search of that name returned these."""
    evidence.retrievals.append(Step(Retrieval(name=name, query=query, documents=chunks)))
    found(None, evidence.request, Inner((), chunks.ids, chunks.scores, 0))


def _retrieved(evidence: Evidence) -> set[str]:
    lists = (step.stage.documents for step in evidence.retrievals)
    return set(chain.from_iterable(chunks.ids for chunks in lists if chunks is not None))


def _checked(evidence: Evidence, before: Ids, after: Ids) -> None:
    left = set(after)
    decided = [Permission(name, "allow" if name in left else "deny") for name in dict.fromkeys(before)]
    evidence.permissions = [*(evidence.permissions or ()), *decided]
    narrowed(None, evidence.request, after)


def _changed(evidence: Evidence, node: str, before: Ids, ids: Ids) -> None:
    for change in changes({"": before}, {"": ids}, ()):
        if change.moved:
            scores = evidence.request.documents.scores.latest
            evidence.reranked = tuple([Ranked(name, rank, scores.get(name)) for rank, name in enumerate(ids, 1)])
        if change.dropped:
            evidence.kept = change.after
            evidence.dropped += [Drop(name, None, node) for name in change.dropped]
    narrowed(None, evidence.request, ids)


def _without(before: Ids, ids: Ids) -> Ids:
    left = set(ids)
    return tuple([name for name in before if name not in left])
