"""The citations of an answer, wherever it makes them: markers in its text, records beside it, structured output."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final, cast

from langchain_core.messages import BaseMessage

from rag_probe_langchain.citing.annotations import annotated, may_annotate, numbered_urls
from rag_probe_langchain.citing.citable import Citable, Cited
from rag_probe_langchain.citing.cited_lists import answer_text, listed
from rag_probe_langchain.citing.markers import LONGEST_ANSWER, marked
from rag_probe_langchain.reading.loose import mapping_of
from rag_probe_langchain.reading.prompt_text import message_text

__all__ = ["Cited", "find_citations"]

_DAGGER: Final = "†"


def find_citations(answer: object, context_ids: Sequence[str], known_ids: Collection[str] = ()) -> tuple[Cited, ...]:
    """What `answer` cites: a string, a message, or structured output (a mapping or a pydantic model).

    `context_ids` are the passages that the model saw, in that order; `known_ids` those seen anywhere in the request.
    A citation is valid when it resolves to a passage of `context_ids`. One that resolves to a known passage which the
    model did not see, or to none, is not valid and keeps the id, or what was written, as id.
    Ordered by place in the answer's text, those without a place last. The rules are in `Citable` and `markers`.
    """
    text = answer if isinstance(answer, str) else None
    if isinstance(answer, BaseMessage) and not may_annotate(answer):
        text = message_text(answer)
    if text is not None and not text.lstrip().startswith("{"):  # the usual answer: plain text, read in order
        return tuple(marked(text, Citable(context_ids, known_ids)))
    if isinstance(answer, BaseMessage):
        found = _of_message(answer, context_ids, known_ids)
    else:
        found = _of_output(answer, Citable(context_ids, known_ids))
    return tuple(sorted(found, key=_place))


def _of_message(message: BaseMessage, context_ids: Sequence[str], known_ids: Collection[str]) -> Iterator[Cited]:
    citable = Citable(context_ids, known_ids)
    if not may_annotate(message):
        yield from _of_output(message_text(message), citable)
        return
    urls = numbered_urls(message)
    if urls:
        in_text = list(marked(message_text(message), Citable(context_ids, known_ids, numbered=urls)))
        yield from in_text or [_beside(url, citable) for url in urls]
        return
    beside = list(annotated(message, citable))
    yield from beside
    for cited in _of_output(message_text(message), citable):
        # The provider's placeholders for its own records resolve to nothing by themselves.
        if not (beside and _DAGGER in cited.marker and not cited.valid):
            yield cited


def _beside(url: str, citable: Citable) -> Cited:
    return Cited(id=url, marker="citation", start=None, end=None, valid=citable.seen(url) is not None)


def _of_output(output: object, citable: Citable) -> Iterator[Cited]:
    if isinstance(output, str):
        structured = _json(output)
        if structured is None:
            yield from marked(output, citable)
            return
        output = structured
    fields = mapping_of(output)
    in_text = list(marked(answer_text(fields) or "", citable))
    yield from in_text
    already = {cited.id for cited in in_text}
    yield from (cited for cited in listed(fields, citable) if cited.id not in already)


def _json(text: str) -> Mapping[object, object] | None:
    """The object that `text` is in JSON. None for anything else."""
    if not text.lstrip().startswith("{") or len(text) > LONGEST_ANSWER:
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):  # ordinary text may begin with a brace
        return None
    return cast("Mapping[object, object]", value) if isinstance(value, dict) else None


def _place(cited: Cited) -> tuple[bool, int]:
    return cited.start is None, cited.start or 0
