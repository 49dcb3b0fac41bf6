"""What the outermost span of a question says: case tags, identity, question, answer, citations."""

from __future__ import annotations

from typing import Final

from rag_probe import attributes as a
from rag_probe.attributes import Attributes, Value
from rag_probe.stages import Answer, CaseTags, Citations, Content, Identity, Outcome, Root
from rag_probe.wire.columns import get, get_column, get_count, get_ids, get_list, put, put_column, put_count

_OUTCOMES: Final[dict[str, Outcome]] = {
    "answered": "answered",
    "partial": "partial",
    "clarification": "clarification",
    "abstained": "abstained",
    "error": "error",
}


def encode_root(root: Root, cap: int) -> dict[str, Value]:
    """Tags first: they are what a backend is searched by, and the SDK drops attributes from the end."""
    out = encode_tags(root.tags)
    put(out, a.CONVERSATION_ID, root.thread_id)
    if root.identity is not None:
        put(out, a.USER_ID, root.identity.subject)
        put(out, a.IDENTITY_TENANT, root.identity.tenant)
        if root.identity.roles:
            out[a.USER_ROLES] = root.identity.roles
    if root.question is not None:
        put(out, a.QUESTION_LENGTH, root.question.length)
        put(out, a.QUESTION_DIGEST, root.question.digest)
        put(out, a.QUESTION_TEXT, root.question.text)
    if root.answer is not None:
        put_answer(out, root.answer, cap)
    return out


def decode_root(attributes: Attributes) -> Root:
    """The inverse of `encode_root`."""
    identity = Identity(
        subject=get(attributes, a.USER_ID, str),
        tenant=get(attributes, a.IDENTITY_TENANT, str),
        roles=get_list(attributes, a.USER_ROLES, str) or (),
    )
    question = Content(
        length=get(attributes, a.QUESTION_LENGTH, int),
        digest=get(attributes, a.QUESTION_DIGEST, str),
        text=get(attributes, a.QUESTION_TEXT, str),
    )
    return Root(
        tags=decode_tags(attributes),
        identity=None if identity == Identity() else identity,
        question=None if question == Content() else question,
        thread_id=get(attributes, a.CONVERSATION_ID, str),
        answer=decode_answer(attributes),
    )


def encode_tags(tags: CaseTags) -> dict[str, Value]:
    """Span attributes, and with every value as text W3C baggage, under the same names."""
    out: dict[str, Value] = {}
    put(out, a.CASE_ID, tags.case_id)
    put(out, a.EXPERIMENT, tags.experiment)
    put(out, a.CASE_RUN, tags.case_run)
    put(out, a.REPETITION, tags.repetition)
    put(out, a.CONFIGURATION, tags.configuration)
    put(out, a.DATASET_VERSION, tags.dataset_version)
    put(out, a.CORPUS_VERSION, tags.corpus_version)
    return out


def decode_tags(attributes: Attributes) -> CaseTags:
    """The inverse of `encode_tags`; a repetition that came as text, as in baggage, is read too."""
    repetition = get(attributes, a.REPETITION, int)
    text = get(attributes, a.REPETITION, str)
    if text is not None and text.isascii() and text.isdigit() and len(text) < 10:  # fits an int32
        repetition = int(text)
    return CaseTags(
        experiment=get(attributes, a.EXPERIMENT, str),
        case_id=get(attributes, a.CASE_ID, str),
        case_run=get(attributes, a.CASE_RUN, str),
        repetition=repetition,
        configuration=get(attributes, a.CONFIGURATION, str),
        dataset_version=get(attributes, a.DATASET_VERSION, str),
        corpus_version=get(attributes, a.CORPUS_VERSION, str),
    )


def encode_answer(stage: Answer, cap: int) -> dict[str, Value]:
    """An answer on a span of its own."""
    out: dict[str, Value] = {a.STAGE: "answer"}
    put_answer(out, stage, cap)
    return out


def put_answer(out: dict[str, Value], stage: Answer, cap: int) -> None:
    """Write the answer beside another stage's attributes."""
    put(out, a.ANSWER_OUTCOME, stage.outcome)
    put(out, a.ANSWER_CONFIDENCE, stage.confidence)
    if stage.citations is not None:
        citations = stage.citations
        put_column(out, a.CITATION_IDS, citations.ids, cap)
        put_count(out, a.CITATION_COUNT, len(citations.ids), citations.count, cap)
        put_column(out, a.CITATION_MARKERS, citations.markers, cap)
        put_column(out, a.CITATION_STARTS, citations.starts, cap)
        put_column(out, a.CITATION_ENDS, citations.ends, cap)
        put_column(out, a.CITATION_VALID, citations.valid, cap)
    if stage.content is not None:
        put(out, a.ANSWER_LENGTH, stage.content.length)
        put(out, a.ANSWER_DIGEST, stage.content.digest)
        put(out, a.ANSWER_TEXT, stage.content.text)


def decode_answer(attributes: Attributes) -> Answer | None:
    """The inverse of `put_answer`; None when the span says nothing of an answer."""
    outcome = get(attributes, a.ANSWER_OUTCOME, str)
    content = Content(
        length=get(attributes, a.ANSWER_LENGTH, int),
        digest=get(attributes, a.ANSWER_DIGEST, str),
        text=get(attributes, a.ANSWER_TEXT, str),
    )
    answer = Answer(
        outcome=_OUTCOMES.get(outcome or ""),
        content=None if content == Content() else content,
        confidence=get(attributes, a.ANSWER_CONFIDENCE, float),
        citations=_citations(attributes),
    )
    return None if answer == Answer() else answer


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
