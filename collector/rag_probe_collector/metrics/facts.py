"""One path as a case sees it: ids as sets, parents and revisions looked up once, gaps as None."""

from __future__ import annotations

from dataclasses import dataclass

from rag_probe.path import EvidencePath
from rag_probe_collector.metrics.coverage import Coverage, cover
from rag_probe_collector.metrics.labels import Labels
from rag_probe_collector.metrics.shown import Shown, shown_in
from rag_probe_collector.register import Review


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """All that scoring and metrics need to know about one answer."""

    labels: Labels
    path: EvidencePath
    shown: Shown
    review: Review | None
    """The one that counts for this very answer."""
    answered: bool | None
    """Whether the outcome is `answered` or `partial`; None when nobody recorded it."""
    coverage: tuple[Coverage, ...]
    drafts: tuple[bool | None, ...]
    """For each verdict of the path whether its draft was good; None: undecided."""


def observe(
    labels: Labels, path: EvidencePath, review: Review | None = None, drafts: tuple[bool | None, ...] | None = None
) -> Facts:
    """Look at `path` with the eyes of a case."""
    shown = shown_in(path)
    return Facts(
        labels=labels,
        path=path,
        shown=shown,
        review=review,
        answered=_answered(path),
        coverage=tuple([cover(need, shown) for need in labels.needs]),
        drafts=(None,) * len(path.verdicts or ()) if drafts is None else drafts,
    )


def _answered(path: EvidencePath) -> bool | None:
    outcome = None if path.answer is None else path.answer.outcome
    if outcome is None or "answer.outcome" in path.not_captured:
        return None
    return outcome in ("answered", "partial")
