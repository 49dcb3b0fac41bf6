"""Stand-ins for modules that are being written beside this one; each goes when the real one is there."""

# ruff: noqa
# pyright: basic
from __future__ import annotations
import re
from collections.abc import Callable
from typing import NamedTuple
from dataclasses import dataclass
from rag_probe.stages import CaseTags, Identity


class Cited(NamedTuple):
    id: str
    marker: str
    start: int
    end: int
    valid: bool


def find_citations(answer, context_ids, known_ids):
    out = []
    for m in re.finditer(r"\[([^\[\]]+)\]", answer):
        inner = m.group(1).strip()
        if inner.isdigit():
            i = int(inner)
            ok = 0 < i <= len(context_ids)
            out.append(Cited(context_ids[i - 1] if ok else inner, m.group(0), m.start(), m.end(), ok))
        else:
            out.append(Cited(inner, m.group(0), m.start(), m.end(), inner in context_ids))
    return tuple(out)
