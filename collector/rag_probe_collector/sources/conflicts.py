"""Where two sources of one question do not say the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from rag_probe.path import EvidencePath
from rag_probe.stages import Chunks

Said: TypeAlias = tuple[str, ...] | frozenset[str] | int | str | None
"""None: the source says nothing that could be compared."""


def conflicts(stored: EvidencePath, traced: EvidencePath) -> Iterator[str]:
    """A line for each field that both know and tell differently."""
    for name, mine, theirs in _compared(stored, traced):
        if mine is not None and theirs is not None and mine != theirs:
            yield f"checkpoint and trace differ in {name} ({_shown(mine)}, {_shown(theirs)}): the checkpoint's is kept"


def listed(chunks: Chunks | None) -> frozenset[str] | None:
    """What can be compared: a list that was cut cannot."""
    return None if chunks is None or chunks.cut else frozenset(chunks.ids)


def _compared(stored: EvidencePath, traced: EvidencePath) -> Iterator[tuple[str, Said, Said]]:
    yield "retrieved", listed(stored.retrieved), listed(traced.retrieved)
    yield "filtered", _kept(stored), _kept(traced)
    yield "permissions", _denied(stored), _denied(traced)
    yield "context", _context(stored), _context(traced)
    yield "answer", _answer(stored), _answer(traced)
    yield "citations", _cited(stored), _cited(traced)
    yield "verdicts", _verdicts(stored), _verdicts(traced)
    yield "error", stored.error or "none", traced.error or "none"


def _kept(path: EvidencePath) -> Said:
    if path.filtered is None or path.filtered.kept is None or "filtered.kept" in path.not_captured:
        return None
    return frozenset(path.filtered.kept)


def _denied(path: EvidencePath) -> Said:
    if path.permissions is None or "permissions" in path.not_captured:
        return None
    return frozenset(each.id for each in path.permissions if each.decision == "deny")


def _context(path: EvidencePath) -> Said:
    return None if path.context is None or path.context.count is not None else path.context.ids


def _answer(path: EvidencePath) -> Said:
    """The text where it is known, else its length."""
    return None if path.answer is None or path.answer.content is None else path.answer.content.length


def _cited(path: EvidencePath) -> Said:
    """Without the prompt that they point into, citations say too little."""
    if path.citations is None or path.citations.count is not None or path.context is None:
        return None
    return path.citations.ids


def _verdicts(path: EvidencePath) -> Said:
    if path.verdicts is None or "verdicts" in path.not_captured:
        return None
    return ", ".join("passed" if each.passed else "refused" for each in path.verdicts) or "none"


def _shown(said: Said) -> str:
    match said:
        case str() | None:
            return said or ""
        case int():
            return f"{said} characters"
        case _:
            return f"{len(said)} ids"
