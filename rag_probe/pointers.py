"""What of a citation may leave: its pointer always, the words of the answer in it only as the policy lets text out."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace
from typing import Final

from rag_probe.policy import CapturePolicy
from rag_probe.stages import Citations

_LONGEST_WORD: Final = 100
_LONGEST_KIND: Final = 64
_LONGEST_NUMBER: Final = 3
_OPENING: Final = "[(【<"
_CLOSING: Final = "])】>"
_COUNTED: Final = re.compile(r"(?:[\W_]|\d{1,3}(?!\d))*")
"""Signs, and numbers that may count passages."""
_LEAD: Final = re.compile(
    r"\b(?:co|see|cf|from|per|document|doc|source|src|reference|ref|chunk|passage|context|citation|cite|id|no|and)s?\b",
    re.IGNORECASE,
)


def has_words(text: str) -> bool:
    """Whether what stands in the place of an id may be text: it has whitespace or is long."""
    return len(text) > _LONGEST_WORD or text.split() != [text]


def admitted(citations: Citations, policy: CapturePolicy, known: Collection[str] = ()) -> Citations:
    """`citations` as they may leave. An id that is `known` or valid, or a single word, always does.

    So does a marker that holds nothing but ids, numbers and the words that lead to them (`[Source 2]`), or the kind of
    a record. What else was written in the place of an id is told by its digest, if there is a key: two of the same
    stay the same.
    """
    if _are_usual(citations):
        return citations
    valid = citations.valid or (None,) * len(citations.ids)
    pairs = zip(citations.ids, valid, strict=False)
    ids = [one if sure or one in known or not has_words(one) else _held_back(one, policy) for one, sure in pairs]
    if not citations.markers:
        return replace(citations, ids=tuple(ids))
    named: dict[str, set[str]] = {}
    for name, admitted_name, marker in zip(citations.ids, ids, citations.markers, strict=False):
        if marker is not None:
            named.setdefault(marker, set()).update({name} & {admitted_name})
    left = {marker: marker if _is_bare(marker, names) else policy.text(marker) for marker, names in named.items()}
    return replace(citations, ids=tuple(ids), markers=tuple([left.get(one or "") for one in citations.markers]))


def _are_usual(citations: Citations) -> bool:
    """Whether all point to what the model saw, by brackets around its number or its id: nothing is held back."""
    if not len(citations.markers) == len(citations.ids) == len(citations.valid) or not all(citations.valid):
        return False
    for name, marker in zip(citations.ids, citations.markers, strict=True):
        inner = (marker or "")[1:-1]
        if not marker or marker[0] not in _OPENING or marker[-1] not in _CLOSING:
            return False
        if inner != name and not (inner.isdecimal() and len(inner) <= _LONGEST_NUMBER):
            return False
    return True


def _held_back(written: str, policy: CapturePolicy) -> str:
    text = policy.text(written)
    if text is not None:
        return text
    digest = policy.digest(written)
    return f"text:{digest[:16] if digest else 'held-back'}"


def _is_bare(marker: str, names: Collection[str]) -> bool:
    if _COUNTED.fullmatch(marker) or (marker.isidentifier() and len(marker) <= _LONGEST_KIND):
        return True
    if marker[1:-1] in names and marker[0] in _OPENING and marker[-1] in _CLOSING:
        return True  # the usual marker: a pattern made of ids, which are other ones each time, costs 0.2 ms to compile
    ids = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    rest = re.sub(rf"(?<!\w)(?:{ids})(?!\w)", " ", marker, flags=re.IGNORECASE) if ids else marker
    return _COUNTED.fullmatch(_LEAD.sub(" ", rest)) is not None
