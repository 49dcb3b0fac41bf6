"""Which facts a path has evidence for at each stage, and where it lost one (checklist 83, 90 to 100)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, Literal, NamedTuple, TypeAlias

from rag_probe.stages import Range
from rag_probe_collector.metrics.labels import Need
from rag_probe_collector.metrics.lineage import ancestors, unrelated
from rag_probe_collector.metrics.shown import Shown
from rag_probe_collector.register import Passage

StageName: TypeAlias = Literal["retrieved", "filtered", "permitted", "context", "cited"]
STAGES: Final[tuple[StageName, ...]] = ("retrieved", "filtered", "permitted", "context", "cited")


class Coverage(NamedTuple):
    """One need. Per stage: whether a group is wholly usable there; None where that was not captured."""

    need: Need
    covered: Mapping[StageName, bool | None]


def cover(need: Need, shown: Shown) -> Coverage:
    """A group is usable when every member is present in the labelled revision, its required text uncut."""
    return Coverage(need, {stage: covered_by(need, getattr(shown, stage), stage, shown) for stage in STAGES})


def covered_by(need: Need, present: frozenset[str] | None, stage: StageName, shown: Shown) -> bool | None:
    """Whether `present`, the passages at `stage`, hold a whole group."""
    if present is None:
        return None
    return _any(_all(_usable(passage, present, stage, shown) for passage in group) for group in need.groups)


def _usable(passage: Passage, present: frozenset[str], stage: StageName, shown: Shown) -> bool | None:
    if passage.id not in present and unrelated((passage.id,), present, shown.parents):
        return False
    if not right_revision(passage, shown):
        return False
    return text_survives(passage, present, shown) if stage in ("context", "cited") else True


def right_revision(passage: Passage, shown: Shown) -> bool:
    """Whether the passage came in the labelled revision; one of unknown revision is taken at its id."""
    return passage.revision is None or shown.revisions.get(passage.id, passage.revision) == passage.revision


def text_survives(passage: Passage, present: frozenset[str], shown: Shown) -> bool | None:
    """Whether the required characters are in the prompt; None when nobody knows what a change or a cut left."""
    if passage.start is None or passage.end is None:
        return True
    if passage.id not in present:
        made_from = any(passage.id in ancestors(each, shown.parents) for each in present)
        return None if made_from else True
    if passage.id not in shown.kept:
        return True
    ranges = shown.kept[passage.id]
    return None if ranges is None else _within((passage.start, passage.end), ranges)


def _within(wanted: Range, ranges: Iterable[Range]) -> bool:
    """Whether the union of `ranges` holds all of `wanted`."""
    reached = wanted[0]
    for start, end in sorted(ranges):
        if start > reached:
            break
        reached = max(reached, end)
    return reached >= wanted[1]


def _all(parts: Iterable[bool | None]) -> bool | None:
    found = set(parts)
    return False if False in found else None if None in found else True


def _any(parts: Iterable[bool | None]) -> bool | None:
    found = set(parts)
    return True if True in found else None if None in found else False
