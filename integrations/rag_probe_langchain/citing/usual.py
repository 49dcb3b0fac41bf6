"""The usual answer at a glance: plain text whose only brackets are `[2]` or `[doc-7]`, of what the model saw."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from operator import itemgetter, methodcaller
from typing import Final

from rag_probe.stages import Citations

_MARKER: Final = re.compile(r"(?<=[ \].,;])\[([^\[\]\s^][^\[\]\s]{0,299})\]")
"""Behind a blank, another marker or the end of a sentence: there a bracket is no markup and no index."""
_OTHERS: Final = ("(", "`", "~~~", "{", "<", "【")
"""Signs of what may be a citation of another kind, or code."""
_LONGEST: Final = 20_000
"""Code points of an answer that is looked at here."""
_NUMBERS: Final = tuple(map(str, range(1, 1_000)))
_ALL: Final[Callable[[re.Match[str]], str]] = itemgetter(0)
_INNER: Final[Callable[[re.Match[str]], str]] = itemgetter(1)
_SPAN: Final[Callable[[re.Match[str]], tuple[int, int]]] = methodcaller("span")


def usual_citations(text: str, context: Sequence[str]) -> Citations | None:
    """What `find_citations` finds, as columns, where every bracket names a passage of `context` by its number or id.

    None says nothing but that it has to look: other brackets, code, JSON, a number beyond the passages, no marker.
    """
    opened = text.count("[")
    if not opened or len(text) > _LONGEST or any(map(text.__contains__, _OTHERS)):
        return None
    found = list(_MARKER.finditer(text))
    names = dict(zip(context, context, strict=True))
    names.update(zip(_NUMBERS, context, strict=False))  # a number counts, before it may be an id
    try:
        ids = tuple(map(names.__getitem__, map(_INNER, found)))
    except KeyError:
        return None
    if len(ids) != opened:
        return None
    starts, ends = zip(*map(_SPAN, found), strict=True)
    return Citations(ids=ids, markers=tuple(map(_ALL, found)), starts=starts, ends=ends, valid=(True,) * opened)
