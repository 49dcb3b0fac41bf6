"""What each stage of a path showed, as sets of ids. A list that was cut counts as not captured (contracts 3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from rag_probe.path import EvidencePath
from rag_probe.stages import Range
from rag_probe_collector.metrics.lineage import Parents, every_chunks, parents_of


class Shown(NamedTuple):
    """Per stage the distinct ids, or None where nobody recorded all of them."""

    ranking: tuple[str, ...] | None
    """What the outermost retrievals returned, in the order of first sight."""
    retrieved: frozenset[str] | None
    filtered: frozenset[str] | None
    permitted: frozenset[str] | None
    context: frozenset[str] | None
    cited: frozenset[str] | None
    denied: frozenset[str]
    dropped: frozenset[str]
    """By filters."""
    parents: Parents
    revisions: Mapping[str, str]
    """Of the retrieved passages whose revision is known."""
    kept: Mapping[str, tuple[Range, ...] | None]
    """Of passages cut in the context: what survived; None when it is not known what."""


def shown_in(path: EvidencePath) -> Shown:
    """The stages of `path`."""
    ranking = _ranking(path)
    retrieved = None if ranking is None else frozenset(ranking)
    filtered = _filtered(path)
    denied = frozenset([each.id for each in path.permissions or () if each.decision == "deny"])
    return Shown(
        ranking=ranking,
        retrieved=retrieved,
        filtered=filtered,
        permitted=_permitted(path, filtered if filtered is not None else retrieved, denied),
        context=_context(path),
        cited=_cited(path),
        denied=denied,
        dropped=frozenset([each.id for each in path.filtered.dropped]) if path.filtered is not None else frozenset(),
        parents=parents_of(path),
        revisions=_revisions(path),
        kept=_kept(path),
    )


def _ranking(path: EvidencePath) -> tuple[str, ...] | None:
    chunks = path.retrieved
    gaps = path.not_captured
    if chunks is None or chunks.cut or "retrieved" in gaps or "retrievals.documents" in gaps:
        return None
    return tuple(dict.fromkeys(chunks.ids))


def _filtered(path: EvidencePath) -> frozenset[str] | None:
    if (
        path.filtered is None
        or path.filtered.kept is None
        or not {"filtered", "filtered.kept"}.isdisjoint(path.not_captured)
    ):
        return None
    return frozenset(path.filtered.kept)


def _permitted(path: EvidencePath, before: frozenset[str] | None, denied: frozenset[str]) -> frozenset[str] | None:
    """What entered the check less what it denied; a passage that it did not judge passed."""
    if path.permissions is None or "permissions" in path.not_captured:
        return None
    entered = before if before is not None else frozenset([each.id for each in path.permissions])
    return entered - denied


def _context(path: EvidencePath) -> frozenset[str] | None:
    context = path.context
    if context is None or "context" in path.not_captured or _is_cut(context.count, context.ids):
        return None
    return frozenset(context.ids)


def _cited(path: EvidencePath) -> frozenset[str] | None:
    citations = path.citations
    if citations is None or "citations" in path.not_captured or _is_cut(citations.count, citations.ids):
        return None
    return frozenset(citations.ids)


def _is_cut(count: int | None, ids: tuple[str, ...]) -> bool:
    return count is not None and count > len(ids)


def _revisions(path: EvidencePath) -> dict[str, str]:
    found: dict[str, str] = {}
    for chunks in every_chunks(path):
        if chunks.revisions:
            pairs = zip(chunks.ids, chunks.revisions, strict=True)
            found.update([(passage, revision) for passage, revision in pairs if revision is not None])
    return found


def _kept(path: EvidencePath) -> dict[str, tuple[Range, ...] | None]:
    """A passage that is whole anywhere in the context is not cut; else its surviving ranges add up.

    Of one that nobody knows to be whole, it is not known what survived.
    """
    context = path.context
    if context is None or not (context.kept or context.truncated):
        return {}
    found: dict[str, tuple[Range, ...] | None] = {}
    whole: set[str] = set()
    for place, passage in enumerate(context.ids):
        ranges = context.kept[place] if context.kept else ()
        if ranges:
            found[passage] = (found.get(passage) or ()) + ranges
        elif context.truncated and context.truncated[place] is not False:
            found.setdefault(passage, None)
        else:
            whole.add(passage)
    return {passage: ranges for passage, ranges in found.items() if passage not in whole}
