"""The usual list of passages, as a store returns it, at a glance: every look is one pass in C over all of them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from math import isfinite
from typing import Final

from rag_probe.identifiers import MAX_ID
from rag_probe.policy import CapturePolicy
from rag_probe.wire.retrieval import Plain
from rag_probe_langchain.keyed import at_once
from rag_probe_langchain.rows import Rows

_STR: Final = {str}
_INT: Final = {int}
_FLOAT: Final = {float}


def plain(rows: Rows, policy: CapturePolicy) -> Plain | None:
    """The columns that identity.py finds, where each passage has an id of its own and the same keys as the others.

    None says nothing but that they have to be looked at one by one.
    """
    if set(map(type, rows.names)) != _STR or not all(rows.names):
        return None
    wanted = (policy.document_keys, policy.revision_keys, policy.tenant_keys, policy.score_keys)
    columns = at_once(rows.metadata, wanted)
    if columns is None:
        return None
    try:
        return _checked(Plain._make([rows.names, *map(_printed, columns[:3]), columns[3]]))
    except (TypeError, ValueError):  # neither words nor numbers; too many digits to print
        return None


def _printed(column: Sequence[object]) -> Sequence[object]:
    return tuple(map(str, column)) if set(map(type, column)) == _INT else column


def _checked(columns: Plain) -> Plain | None:
    texts = [*chain.from_iterable(columns[:4])]
    is_plain = (
        set(map(type, texts)) == _STR
        and max(map(len, texts)) <= MAX_ID
        and "".join(texts).isascii()
        and set(map(type, columns.scores)) <= _FLOAT
        and isfinite(sum(columns.scores))
    )
    return columns if is_plain else None
