"""The question and the answer of a root run, read from what went in and what came out (contracts 1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from langchain_core.messages import BaseMessage, HumanMessage

from rag_probe.faults import log_once
from rag_probe.stages import Answer, Citations, Outcome
from rag_probe_langchain.request import Made, Request
from rag_probe_langchain.run import Ids
from rag_probe_langchain.seam import find_citations

_QUESTIONS: Final = ("question", "query", "input")
_ANSWERS: Final = ("answer", "output", "response", "result")


class Read(NamedTuple):
    """An answer, and which of its fields were inferred."""

    answer: Answer
    inferred: tuple[str, ...]


def question_in(inputs: object) -> str | None:
    """The root's string input, else its `question`, `query` or `input`, else the last human message."""
    if isinstance(inputs, str):
        return inputs or None
    if isinstance(inputs, Mapping):
        entries: Mapping[object, object] = inputs
        for key in _QUESTIONS:
            value = entries.get(key)
            if isinstance(value, str) and value:
                return value
        inputs = entries.get("messages")
    return _last_human(inputs)


def answer_of(request: Request, output: object) -> Read:
    """What the question got: told, else inferred."""
    text, made, guessed = _answer_text(output, request.made)
    outcome, inferred = _outcome(request, output, text)
    told = request.told
    citations = told.citations
    if citations is None and text is not None:
        citations = _citations(text, made, request)
    content = None if text is None else request.options.policy.content_of(text)
    answer = Answer(outcome=outcome, content=content, confidence=told.confidence, citations=citations)
    names = (("answer.outcome",) if inferred else ()) + (("answer.text",) if guessed else ())
    return Read(answer, names)


def _answer_text(output: object, made: Sequence[Made]) -> tuple[str | None, Made | None, bool]:
    """The text, the model call that wrote it, and whether that the text is the answer was only inferred."""
    last = made[-1] if made else None
    if isinstance(output, str):
        return output, _maker(output, made), False
    if isinstance(output, BaseMessage):
        text = str(output.text)
        return text, _maker(text, made), False
    values = _values(output)
    named = next((values[key] for key in _ANSWERS if key in values), None)
    if named is not None:
        return named, _maker(named, made), False
    written = set(values.values())
    for one in reversed(made):
        if one.text in written:
            return one.text, one, False
    return (None, None, False) if last is None else (last.text, last, True)


def _maker(text: str, made: Sequence[Made]) -> Made | None:
    """The latest model call that wrote `text`, else the latest that saw passages, else the latest."""
    latest = list(reversed(made))
    same = [one for one in latest if one.text == text] or [one for one in latest if one.context is not None] or latest
    return same[0] if same else None


def _values(output: object) -> dict[str, str]:
    """The strings directly in the output, and the text of the last message."""
    if not isinstance(output, Mapping):
        return {}
    entries: Mapping[object, object] = output
    found = {str(key): value for key, value in entries.items() if isinstance(value, str)}
    for key, value in entries.items():
        last = value[-1] if isinstance(value, (list, tuple)) and value else value  # pyright: ignore[reportUnknownVariableType]
        if isinstance(last, BaseMessage) and last.type == "ai":
            found.setdefault(str(key), str(last.text))
    return found


def _outcome(request: Request, output: object, text: str | None) -> tuple[Outcome | None, bool]:
    """What the app says, else what the text shows; and whether it was inferred."""
    if request.told.outcome is not None:
        return request.told.outcome, False
    if request.options.outcome is not None:
        try:
            said = request.options.outcome(output)
        except Exception as error:  # the app's own hook: its failure must not reach the app
            log_once("outcome", error)
            said = None
        if said is not None:
            return said, False
    if request.paused:
        return None, False
    if not request.made or not (text or "").strip():
        return "abstained", True
    return "answered", True


def _citations(text: str, made: Made | None, request: Request) -> Citations | None:
    context: Ids | None = None if made is None else made.context
    cited = find_citations(text, context or (), frozenset(request.documents.scores) | _known(request))
    seen = context is not None
    return Citations(
        ids=tuple(one.id for one in cited),
        markers=tuple(one.marker for one in cited),
        starts=tuple(one.start for one in cited),
        ends=tuple(one.end for one in cited),
        valid=tuple(one.valid for one in cited) if seen else (),
    )


def _known(request: Request) -> frozenset[str]:
    return frozenset(name for owners in request.documents.texts.values() for name in owners)


def _last_human(messages: object) -> str | None:
    if not isinstance(messages, (list, tuple)):
        return None
    for message in reversed(messages):  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        if isinstance(message, HumanMessage):
            return str(message.text) or None
        match message:
            case ("human" | "user", str(text)) | {"role": "user", "content": str(text)}:
                return text or None
            case _:
                pass
    return None
