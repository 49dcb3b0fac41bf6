"""Answer and its citations as attributes: on the outermost span of a question."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Final, TypeAlias

from rag_probe import attributes as a
from rag_probe.attributes import Attributes, Value
from rag_probe.stages import Answer, Citations, Outcome
from rag_probe.wire.columns import (
    are_counts,
    are_short,
    get,
    get_column,
    get_count,
    get_ids,
    put,
    put_columns,
    put_count,
)
from rag_probe.wire.content import Names, get_content, put_content

_CONTENT: Final = Names(a.ANSWER_LENGTH, a.ANSWER_DIGEST, a.ANSWER_TEXT)
OUTCOMES: Final[dict[str, Outcome]] = {
    "answered": "answered",
    "partial": "partial",
    "clarification": "clarification",
    "abstained": "abstained",
    "error": "error",
}

_COLUMN_NAMES: Final = (a.CITATION_IDS, a.CITATION_MARKERS, a.CITATION_STARTS, a.CITATION_ENDS, a.CITATION_VALID)
_Columns: TypeAlias = tuple[
    tuple[str, ...],
    tuple[str | None, ...],
    tuple[int | None, ...],
    tuple[int | None, ...],
    tuple[bool | None, ...],
]
_COLUMNS: Final[Callable[[Citations], _Columns]] = attrgetter("ids", "markers", "starts", "ends", "valid")


def encode_answer(stage: Answer, cap: int) -> dict[str, Value]:
    """An answer on a span of its own."""
    out: dict[str, Value] = {a.STAGE: "answer"}
    put_answer(out, stage, cap)
    return out


def put_answer(out: dict[str, Value], stage: Answer, cap: int) -> None:
    """Write the answer beside another stage's attributes."""
    if stage.outcome is not None:
        out[a.ANSWER_OUTCOME] = stage.outcome
    if stage.confidence is not None:
        put(out, a.ANSWER_CONFIDENCE, stage.confidence)
    if stage.citations is not None:
        put_citations(out, stage.citations, cap)
    put_content(out, _CONTENT, stage.content)


def put_citations(out: dict[str, Value], citations: Citations, cap: int) -> None:
    """Write the pointers, in answer order; none at all as their count."""
    columns = _COLUMNS(citations)
    if citations.count is None and _are_usual(columns, cap):
        out.update(zip(_COLUMN_NAMES, columns, strict=True))
        return
    put_count(out, a.CITATION_COUNT, len(citations.ids), citations.count, cap)
    put_columns(out, cap, *zip(_COLUMN_NAMES, columns, strict=True))


def _are_usual(columns: _Columns, cap: int) -> bool:
    """Whether these pointers fit under the cap, all is known of each, and all of that may leave as it is."""
    ids, markers, starts, ends, valid = columns
    if not 0 < len(ids) <= cap or len(set(map(len, columns))) > 1:
        return False
    return are_short([*ids, *markers]) and are_counts([*starts, *ends, *valid])


def decode_answer(attributes: Attributes) -> Answer | None:
    """The inverse of `put_answer`; None when the span says nothing of an answer."""
    outcome = OUTCOMES.get(get(attributes, a.ANSWER_OUTCOME, str) or "")
    confidence = get(attributes, a.ANSWER_CONFIDENCE, float)
    content = get_content(attributes, _CONTENT)
    citations = _citations(attributes)
    if outcome is None and confidence is None and content is None and citations is None:
        return None
    return Answer(outcome=outcome, content=content, confidence=confidence, citations=citations)


def _citations(attributes: Attributes) -> Citations | None:
    ids = get_ids(attributes, a.CITATION_IDS, a.CITATION_COUNT)
    if ids is None:
        return None
    size = len(ids)
    return Citations(
        ids=ids,
        markers=get_column(attributes, a.CITATION_MARKERS, size, str),
        starts=get_column(attributes, a.CITATION_STARTS, size, int),
        ends=get_column(attributes, a.CITATION_ENDS, size, int),
        valid=get_column(attributes, a.CITATION_VALID, size, bool),
        count=get_count(attributes, a.CITATION_COUNT, size),
    )
