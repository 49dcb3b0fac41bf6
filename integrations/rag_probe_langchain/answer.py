"""The answer of a question, read from what its root returned (contracts 1 and 4)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import LLMResult

from rag_probe.faults import log_once
from rag_probe.pointers import admitted
from rag_probe.stages import Answer, Citations, Outcome
from rag_probe.wire.answer import OUTCOMES
from rag_probe_langchain.citing.annotations import may_annotate
from rag_probe_langchain.citing.citations import Cited, find_citations
from rag_probe_langchain.citing.usual import usual_citations
from rag_probe_langchain.reading.prompt_text import message_text
from rag_probe_langchain.request import Made, Request
from rag_probe_langchain.scan import mapping, sequence

_NAMES: Final = ("answer", "output", "response", "result")
"""Keys of an output that say that their text is the answer."""


NO_CITATIONS: Final = Citations()


class Read(NamedTuple):
    """An answer, and which of its fields were inferred."""

    answer: Answer
    inferred: tuple[str, ...]


class _Text(NamedTuple):
    text: str | None
    made: Made | None
    """The model call that wrote it."""
    inferred: bool = False


def answer_of(request: Request, output: object) -> Read:
    """What the question got: told by the app, else inferred."""
    told = request.told
    if request.paused:
        return Read(told_of(request) or Answer(), ())
    found = _text(output, request.made)
    outcome, inferred = _outcome(request, output, found)
    citations = None
    if told.citations is not None:
        citations = _admitted(_checked(told.citations, found.made), request)
    elif found.text is not None or found.made is not None:
        citations = _usual(found) or _citations(output, found, request)
    content = None if found.text is None else request.options.policy.content_of(found.text)
    answer = Answer(outcome=outcome, content=content, confidence=told.confidence, citations=citations)
    return Read(answer, (("answer.outcome",) if inferred else ()) + (("answer.text",) if found.inferred else ()))


def told_of(request: Request) -> Answer | None:
    """What the app says of the answer, where there is none to be read; None when it says nothing."""
    told = request.told
    if told.outcome is None and told.confidence is None and told.citations is None:
        return None
    citations = None if told.citations is None else _admitted(told.citations, request)
    return Answer(outcome=told.outcome, confidence=told.confidence, citations=citations)


def answer_text(request: Request, output: object) -> str | None:
    """The text of the answer, for comparing: what may leave of it is in `answer_of`."""
    return _text(output, request.made).text


def is_written(request: Request, output: object) -> bool:
    """Whether the root returned just what a model has written to its end."""
    found = _text(output, request.made)
    return not found.inferred and found.made is not None and found.made.text == found.text


def _text(output: object, made: Sequence[Made]) -> _Text:
    """A string or message; else what is named an answer; else what a model wrote and the root returned, the latest one.

    Without any of these, the last model's text, inferred; None where it answered by a structure (a tool's call).
    """
    if isinstance(output, LLMResult):
        return _last(made)
    if isinstance(output, (str, BaseMessage)):
        text = output if isinstance(output, str) else message_text(output)
        return _last(made) if _is_call(text, output) else _Text(text, _writer(text, made))
    texts = _texts(output)
    for name in _NAMES:
        if name in texts:
            return _Text(texts[name], _writer(texts[name], made))
    returned = set(texts.values())
    for one in reversed(made):
        if one.text and one.text in returned:
            return _Text(one.text, one)
    said = _last_word(output)
    if said is not None:
        return _Text(said, _writer(said, made), inferred=True)
    last = _last(made)
    return last if last.text is None else last._replace(inferred=True)


def _last(made: Sequence[Made]) -> _Text:
    if not made:
        return _Text(None, None)
    last = made[-1]
    return _Text(None if _is_call(last.text, last.message) else last.text, last)


def _is_call(text: str, message: object) -> bool:
    """Whether a model answered with a tool's call instead of text, as it does for structured output."""
    return not text.strip() and bool(getattr(message, "tool_calls", None))


def _writer(text: str, made: Sequence[Made]) -> Made | None:
    """The latest model call that wrote `text`, else the latest that saw passages, else the latest."""
    latest = list(reversed(made))
    for one in latest:
        if one.text == text:
            return one
    return next((one for one in latest if one.context is not None), latest[0] if latest else None)


def _texts(output: object) -> dict[str, str]:
    """The strings directly in an output, and the model's last word where a value is a list of messages.

    An agent's structured response comes first.
    """
    entries = mapping(output) or {}
    inner = entries.get("structured_response")
    found = {} if inner is None else _texts(inner)
    for key, value in entries.items():
        if isinstance(value, str):
            found.setdefault(str(key), value)
            continue
        items = sequence(value)
        last = items[-1] if items else value
        if isinstance(last, AIMessage):  # or a chunk of one, whose `type` is another: what a state streamed together
            found.setdefault(str(key), message_text(last))
    return found


def _last_word(output: object) -> str | None:
    """What ends a talk without a model having said it: a limit that was reached, a tool whose result is the answer."""
    for value in (mapping(output) or {}).values():
        items = sequence(value)
        last = items[-1] if items else None
        if isinstance(last, (AIMessage, ToolMessage)) and not _is_call(message_text(last), last):
            return message_text(last)
    return None


def _outcome(request: Request, output: object, found: _Text) -> tuple[Outcome | None, bool]:
    """What the app says, else what the text shows; and whether it was inferred."""
    said = request.told.outcome or _asked(request, output)
    if said is not None:
        return said, False
    if found.text is None:
        return ("answered" if found.made is not None else "abstained"), True
    wrote = bool(request.made) or request.resumed
    return ("answered" if wrote and found.text.strip() else "abstained"), True


def _asked(request: Request, output: object) -> Outcome | None:
    if request.options.outcome is None:
        return None
    try:
        said = request.options.outcome(output)
        return None if said is None else OUTCOMES[said]
    except Exception as error:  # the app's own hook: its failure must not reach the app
        log_once("outcome=", error)
        return None


def _checked(told: Citations, made: Made | None) -> Citations:
    """What the app told; valid is what the model saw, where the app does not say."""
    if told.valid or made is None or made.context is None:
        return told
    return replace(told, valid=tuple([name in made.context for name in told.ids]))


def _admitted(citations: Citations, request: Request) -> Citations:
    return admitted(citations, request.options.policy, request.documents.whole)


def _usual(found: _Text) -> Citations | None:
    """Of an answer that a model wrote as plain text, at a glance. All of them may leave: they name what was seen."""
    text, made, _ = found
    if text is None or made is None or not made.context:
        return None
    if made.message is not None and made.text == text and may_annotate(made.message):
        return None
    return usual_citations(text, made.context)


def _citations(output: object, found: _Text, request: Request) -> Citations | None:
    """The pointers in the answer, resolved against the context that its writer saw; None where we do not know it."""
    if found.made is None and request.resumed:
        return None
    context = None if found.made is None else found.made.context
    known = request.documents.whole
    cited: Sequence[Cited] = ()
    for answer in _answers(output, found):
        cited = cited or find_citations(answer, context or (), known)
    if not cited:
        return NO_CITATIONS
    if context is None and any(one.id.isdecimal() and one.id not in known for one in cited):
        return None  # they count in a prompt that is not known: as ids they would look like passages seen nowhere
    rows = [(one.id, one.marker, one.start, one.end, one.valid) for one in cited]
    ids, markers, starts, ends, valid = zip(*rows, strict=True)
    columns = Citations(
        ids=ids,
        markers=markers,
        starts=_known(starts),
        ends=_known(ends),
        valid=() if context is None else valid,
    )
    return _admitted(columns, request)


def _answers(output: object, found: _Text) -> Iterator[object]:
    """Where an answer may cite: its message, else its text; then the output around it."""
    made = found.made
    yield made.message if made is not None and made.message is not None and made.text == found.text else found.text
    if not isinstance(output, (str, BaseMessage)) and (entries := mapping(output)) is not None:
        yield entries


def _known(places: tuple[int | None, ...]) -> tuple[int | None, ...]:
    return places if places[0] is not None or any(place is not None for place in places) else ()
