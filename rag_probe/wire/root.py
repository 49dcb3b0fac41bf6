"""What the outermost span of a question says: case tags, identity, question, answer, citations, verdicts."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Final

from rag_probe import attributes as a
from rag_probe.attributes import Attributes, Value
from rag_probe.stages import NO_TAGS, CaseTags, Identity, Root
from rag_probe.wire.answer import decode_answer, put_answer
from rag_probe.wire.columns import get, get_list, put_column, put_fields, put_known
from rag_probe.wire.content import Names, get_content, put_content
from rag_probe.wire.verdicts import get_verdicts, put_verdicts

_QUESTION: Final = Names(a.QUESTION_LENGTH, a.QUESTION_DIGEST, a.QUESTION_TEXT)

_COURSE_NAMES: Final = (a.CONVERSATION_ID, a.PAUSED_AT, a.RESUMED_AT, a.RESUMED)
_COURSE: Final[Callable[[Root], tuple[str | bool | None, ...]]] = attrgetter(
    "thread_id", "paused_at", "resumed_at", "resumed"
)


def encode_root(root: Root, cap: int) -> dict[str, Value]:
    """Tags first: they are what a backend is searched by."""
    out = encode_tags(root.tags) if root.tags is not NO_TAGS else {}
    put_fields(out, _COURSE_NAMES, _COURSE(root))
    if root.identity is not None:
        put_identity(out, root.identity)
    put_content(out, _QUESTION, root.question)
    if root.answer is not None:
        put_answer(out, root.answer, cap)
    if root.verdicts is not None:
        put_verdicts(out, root.verdicts, cap)
    return out


def decode_root(attributes: Attributes) -> Root:
    """The inverse of `encode_root`."""
    return Root(
        tags=decode_tags(attributes),
        identity=_identity(attributes),
        question=get_content(attributes, _QUESTION),
        thread_id=get(attributes, a.CONVERSATION_ID, str),
        answer=decode_answer(attributes),
        verdicts=get_verdicts(attributes),
        paused_at=get(attributes, a.PAUSED_AT, str),
        resumed_at=get(attributes, a.RESUMED_AT, str),
        resumed=get(attributes, a.RESUMED, bool),
    )


def encode_tags(tags: CaseTags) -> dict[str, Value]:
    """Span attributes, and with every value as text W3C baggage, under the same names."""
    out: dict[str, Value] = {}
    put_known(
        out,
        (a.CASE_ID, tags.case_id),
        (a.EXPERIMENT, tags.experiment),
        (a.CASE_RUN, tags.case_run),
        (a.REPETITION, tags.repetition),
        (a.CONFIGURATION, tags.configuration),
        (a.DATASET_VERSION, tags.dataset_version),
        (a.CORPUS_VERSION, tags.corpus_version),
    )
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


def put_identity(out: dict[str, Value], identity: Identity) -> None:
    """Write on whose behalf a question was asked."""
    put_known(
        out,
        (a.USER_ID, identity.subject),
        (a.IDENTITY_TENANT, identity.tenant),
    )
    put_column(out, a.USER_ROLES, identity.roles)


def _identity(attributes: Attributes) -> Identity | None:
    subject = get(attributes, a.USER_ID, str)
    tenant = get(attributes, a.IDENTITY_TENANT, str)
    roles = get_list(attributes, a.USER_ROLES, str) or ()
    if subject is None and tenant is None and not roles:
        return None
    return Identity(subject=subject, tenant=tenant, roles=roles)
