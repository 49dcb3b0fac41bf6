"""Answer and its citations as attributes: on the outermost span of a question."""

from __future__ import annotations

from typing import Final

from rag_probe import attributes as a
from rag_probe.attributes import Attributes, Value
from rag_probe.stages import Answer, Citations, Outcome
from rag_probe.wire.columns import get, get_column, get_count, get_ids, put_columns, put_count, put_known
from rag_probe.wire.content import Names, get_content, put_content

_CONTENT: Final = Names(a.ANSWER_LENGTH, a.ANSWER_DIGEST, a.ANSWER_TEXT)
OUTCOMES: Final[dict[str, Outcome]] = {
    "answered": "answered",
    "partial": "partial",
    "clarification": "clarification",
    "abstained": "abstained",
    "error": "error",
}


def encode_answer(stage: Answer, cap: int) -> dict[str, Value]:
    """An answer on a span of its own."""
    out: dict[str, Value] = {a.STAGE: "answer"}
    put_answer(out, stage, cap)
    return out


def put_answer(out: dict[str, Value], stage: Answer, cap: int) -> None:
    """Write the answer beside another stage's attributes."""
    put_known(
        out,
        (a.ANSWER_OUTCOME, stage.outcome),
        (a.ANSWER_CONFIDENCE, stage.confidence),
    )
    if stage.citations is not None:
        put_citations(out, stage.citations, cap)
    put_content(out, _CONTENT, stage.content)


def put_citations(out: dict[str, Value], citations: Citations, cap: int) -> None:
    """Write the pointers, in answer order; none at all as their count."""
    put_count(out, a.CITATION_COUNT, len(citations.ids), citations.count, cap)
    put_columns(
        out,
        cap,
        (a.CITATION_IDS, citations.ids),
        (a.CITATION_MARKERS, citations.markers),
        (a.CITATION_STARTS, citations.starts),
        (a.CITATION_ENDS, citations.ends),
        (a.CITATION_VALID, citations.valid),
    )


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
