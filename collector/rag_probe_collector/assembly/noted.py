"""What the spans of a question say about their own completeness."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rag_probe.stages import Generation
from rag_probe_collector.assembly.parts import Part
from rag_probe_collector.dialects.reading import NO_NOTES, Notes

_CONTEXT: Final = "context"
_OTHERS: Final = "generations.context"


def noted(parts: Sequence[Part], answering: Generation | None) -> Notes:
    """All notes together. The context of a call that is not the answering one is not the path's.

    A question is partial when one of its outermost spans says so: a step that was broken off may not have mattered.
    """
    inferred: dict[str, None] = {}
    missing: dict[str, None] = {}
    partial = False
    for part in parts:
        for one in part.seen:
            notes = part.dialect.notes(one.span)
            if notes is NO_NOTES:
                continue
            partial = partial or (notes.partial and one.span is part.top)
            foreign = isinstance(one.reading, Generation) and one.reading is not answering
            for names, said in ((inferred, notes.inferred), (missing, notes.not_captured)):
                names.update((_OTHERS if foreign and name == _CONTEXT else name, None) for name in said)
    return Notes(tuple(inferred), tuple(missing), partial)
