"""What only the app knows about the question that it is answering.

`tell.outcome("abstained")`, `tell.confidence(0.7)`, `tell.budget(limit=620)`, `tell.citations([…])`,
`tell.identity(tenant="acme")`, `tell.verdict(False, draft)`: about the run of an instrumented framework around the
call, else about the current span; with neither, nothing happens. Nothing here raises: what cannot be right is left out
and said once in the log.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import cast

from opentelemetry import trace

from rag_probe.attributes import Value
from rag_probe.citing import cited
from rag_probe.current import Told, current_run
from rag_probe.faults import log_once, warn_once
from rag_probe.identifiers import identifier, identity_of
from rag_probe.measured import number, whole
from rag_probe.pointers import admitted
from rag_probe.policy import CapturePolicy, policy_from_environment
from rag_probe.stages import Answer, Budget, Content, Identity, Outcome, Verdicts
from rag_probe.verdicts import followed
from rag_probe.wire.answer import OUTCOMES, put_answer
from rag_probe.wire.context import put_budget
from rag_probe.wire.limits import limit_of, within
from rag_probe.wire.root import put_identity
from rag_probe.wire.verdicts import get_verdicts, put_verdicts

__all__ = ["budget", "citations", "confidence", "identity", "outcome", "verdict"]


def outcome(value: Outcome) -> None:
    """How the question ended: answered, partial, clarification, abstained or error."""
    known = OUTCOMES.get(identifier(value) or "")
    if known is None:
        warn_once("tell.outcome", "tell.outcome: expected one of %s; something else is left out", ", ".join(OUTCOMES))
    else:
        _say(Told(outcome=known))


def confidence(value: float) -> None:
    """How sure the app is, on its own scale, higher is surer: a finite number."""
    score = number(value)
    if score is None:
        warn_once("tell.confidence", "tell.confidence: expected a finite number, found a %s", type(value).__name__)
    else:
        _say(Told(confidence=score))


def budget(*, limit: int | None = None, used: int | None = None, tokenizer: str | None = None) -> None:
    """The tokens that the context may take, and takes, as `tokenizer` counts them."""
    told = Budget(limit=whole(limit), used=whole(used), tokenizer=identifier(tokenizer))
    if (told.limit is None) is not (limit is None) or (told.used is None) is not (used is None):
        warn_once("tell.budget", "tell.budget: limit and used are whole numbers from 0; others are left out")
    if told != Budget():
        _say(Told(budget=told))


def citations(pointers: Iterable[object]) -> None:
    """What the answer cites, in answer order; an empty list says that it cites nothing.

    Each is an id, a tuple (id, marker, start, end, valid) or its beginning, or anything with those fields;
    offsets in characters of the answer.
    """
    try:
        run = current_run()
        found = cited(pointers, None if run is None else run.name_of)
    except Exception as fault:  # whatever the app's objects do
        log_once("tell.citations", fault)
    else:
        _say(Told(citations=found))


def identity(
    who: Identity | None = None,
    *,
    subject: str | None = None,
    tenant: str | None = None,
    roles: Iterable[str] = (),
) -> None:
    """On whose behalf the question is asked."""
    try:
        told = who or identity_of({"subject": subject, "tenant": tenant, "roles": roles})
        if told != Identity():
            _say(Told(identity=identity_of(told)))
    except ValueError as error:
        warn_once("tell.identity", "tell.%s", error)


def verdict(passed: bool, draft: str | None = None) -> None:
    """What a validation says of a draft, once for each that it looks at: whether it may go on.

    Of the draft its length leaves, and its digest where the answer's would; never its text.
    """
    if not isinstance(cast("object", passed), bool):
        warn_once("tell.verdict", "tell.verdict: expected True or False, found a %s", type(passed).__name__)
        return
    try:
        run = current_run()
        judged = _content(draft, policy_from_environment() if run is None else run.policy)
    except Exception as fault:  # an integration's, or the app's own objects'
        log_once("tell.verdict", fault)
        return
    _say(Told(verdicts=Verdicts(passed=(passed,), lengths=(judged.length,), digests=(judged.digest,))))


def _content(draft: object, policy: CapturePolicy) -> Content:
    """Of a text, or of a message's."""
    text = draft if isinstance(draft, str) else cast("object", getattr(draft, "text", None))
    if isinstance(text, str):
        return policy.content_of(text)
    if draft is not None:
        warn_once("tell.verdict.draft", "tell.verdict: a draft is a text; %s is left out", type(draft).__name__)
    return Content()


def _say(told: Told) -> None:
    try:
        run = current_run()
        if run is not None:
            run.tell(told)
            return
        span = trace.get_current_span()
        if span.is_recording():
            known: Mapping[str, Value] = getattr(span, "attributes", None) or {}
            span.set_attributes(within(_attributes(told, get_verdicts(known)), limit_of(span)))
    except Exception as fault:  # ours or an integration's, and not the app's business
        log_once("tell", fault)


def _attributes(told: Told, before: Verdicts | None) -> dict[str, Value]:
    out: dict[str, Value] = {}
    policy = policy_from_environment()
    citations = None if told.citations is None else admitted(told.citations, policy)
    put_answer(out, Answer(outcome=told.outcome, confidence=told.confidence, citations=citations), policy.max_items)
    put_budget(out, told.budget)
    if told.identity is not None:
        put_identity(out, told.identity)
    if told.verdicts is not None:
        put_verdicts(out, followed(before, told.verdicts, policy.max_items), policy.max_items)
    return out
