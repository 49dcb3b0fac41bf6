"""One thing that is wrong with an answer, where it was seen and on which passages."""

from __future__ import annotations

from typing import NamedTuple

from rag_probe.path import EvidencePath


class Finding(NamedTuple):
    """`name` is one of the eight violations, or one of `BESIDE`."""

    name: str
    stage: str | None = None
    """The field of the path where it was seen."""
    ids: tuple[str, ...] = ()
    reason: str | None = None
    inferred: bool = False
    """Whether it rests on a value that nobody observed (contracts 7)."""


def inferred(path: EvidencePath, *fields: str) -> bool:
    """Whether any of the fields, or what holds it, was inferred."""
    if not path.inferred:
        return False
    return any(field == name or field.startswith(f"{name}.") for field in fields for name in path.inferred)
