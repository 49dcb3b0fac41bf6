"""What was told of drafts, as rows of the path."""

from __future__ import annotations

from itertools import zip_longest

from rag_probe.path import Verdict
from rag_probe.stages import Content, Verdicts


def verdicts(told: Verdicts | None) -> tuple[Verdict, ...] | None:
    """A row for each that was listed; None when nobody told any."""
    if told is None:
        return None
    rows = zip_longest(told.passed, told.nodes, told.steps, told.lengths, told.digests)
    return tuple([Verdict(passed, node, step, _draft(length, digest)) for passed, node, step, length, digest in rows])


def _draft(length: int | None, digest: str | None) -> Content | None:
    return None if length is None and digest is None else Content(length=length, digest=digest)
