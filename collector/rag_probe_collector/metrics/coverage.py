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
    present = (shown.retrieved, shown.filtered, shown.permitted, shown.context, shown.cited)
    covered: dict[StageName, bool | None] = {}
    for stage, ids in zip(STAGES, present, strict=True):
        covered[stage] = covered_by(need, ids, stage, shown)
    return Coverage(need, covered)


def covered_by(need: Need, present: frozenset[str] | None, stage: StageName, shown: Shown) -> bool | None:
    """Whether `present`, the passages at `stage`, hold a whole group."""
    if present is None:
        return None
    doubtful = False
    for group in need.groups:
        verdict = _group_usable(group, present, stage, shown)
        if verdict:
            return True
        doubtful = doubtful or verdict is None
    return None if doubtful else False


def _group_usable(group: tuple[Passage, ...], present: frozenset[str], stage: StageName, shown: Shown) -> bool | None:
    doubtful = False
    for passage in group:
        verdict = _usable(passage, present, stage, shown)
        if verdict is False:
            return False
        doubtful = doubtful or verdict is None
    return None if doubtful else True


def _usable(passage: Passage, present: frozenset[str], stage: StageName, shown: Shown) -> bool | None:
    if passage.id not in present and not (shown.parents and not unrelated((passage.id,), present, shown.parents)):
        return False
    if passage.revision is not None and not right_revision(passage, shown):
        return False
    if passage.start is None or (stage != "context" and stage != "cited"):
        return True
    return text_survives(passage, present, shown)


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
