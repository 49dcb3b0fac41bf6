"""Which source items a path saw, in which revision: to tell a stale passage from one that was not found."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest

from rag_probe_collector.metrics.facts import Facts
from rag_probe_collector.metrics.lineage import every_chunks
from rag_probe_collector.register import Passage


def came_in_another_revision(passage: Passage, facts: Facts) -> bool:
    """Whether the passage's document was returned in a revision other than the labelled one."""
    if passage.document is None or passage.revision is None:
        return False
    found = {revision for document, revision in _sources(facts) if document == passage.document}
    return bool(found - {passage.revision, None})


def _sources(facts: Facts) -> Iterator[tuple[str | None, str | None]]:
    """(document, revision) of every returned passage; what the path leaves out comes from the manifest."""
    entries = facts.labels.known
    for chunks in every_chunks(facts.path):
        for each, document, revision in zip_longest(chunks.ids, chunks.documents, chunks.revisions):
            entry = entries.get(each)
            if entry is None:
                yield document, revision
            else:
                yield document or entry.document, revision or entry.revision
