"""What the outermost spans of a question's parts say, as one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields
from itertools import zip_longest
from typing import Final, TypeVar

from rag_probe.stages import CaseTags, Root, Verdicts
from rag_probe.verdicts import followed
from rag_probe_collector.assembly.parts import Part

T = TypeVar("T")

_ALL: Final = 2**31
_TAGS: Final = tuple(tag.name for tag in fields(CaseTags))


def merged_root(parts: Sequence[Part]) -> Root:
    """Of every field the first part that knows it; of the answer the last, since a paused part has none yet.

    Verdicts follow each other.
    """
    roots = [part.root for part in parts]
    if len(roots) == 1:
        return roots[0]
    return Root(
        tags=CaseTags(**{name: first(getattr(root.tags, name) for root in roots) for name in _TAGS}),
        identity=first(root.identity for root in roots),
        question=first(root.question for root in roots),
        thread_id=first(root.thread_id for root in roots),
        answer=first(root.answer for root in reversed(roots)),
        verdicts=_verdicts(root.verdicts for root in roots),
    )


def _verdicts(values: Iterable[Verdicts | None]) -> Verdicts | None:
    """Joined in pairs: one after the other, the first would be copied again for every part."""
    told = [value for value in values if value is not None]
    while len(told) > 1:
        pairs = zip_longest(told[::2], told[1::2])
        told = [one if other is None else followed(one, other, _ALL) for one, other in pairs]
    return told[0] if told else None


def first(values: Iterable[T | None]) -> T | None:
    """The first that is known."""
    return next((value for value in values if value is not None), None)
