"""Citations that a provider reports beside the text of an answer.

Read are content blocks as LangChain stores them, in its standard form and in the providers' own (Anthropic, OpenAI,
Bedrock, Google), Google's grounding metadata, and `additional_kwargs["citations"]` (Cohere, Perplexity). A record
points to a passage by an id, a source, a URL or a title that equals an id; else by words that it quotes from one; else
by an index into the documents of the request, which are taken to be the passages in their order. A record with none of
these is left out: nothing can be said about it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import chain, islice
from typing import Final

from langchain_core.messages import BaseMessage

from rag_probe_langchain.citing.citable import LONGEST_ID, Citable, Cited
from rag_probe_langchain.citing.grounding import GROUNDED, METADATA, Record, characters, grounded
from rag_probe_langchain.locating.places import Range
from rag_probe_langchain.reading.loose import count_of, items_of, mapping_of
from rag_probe_langchain.reading.prompt_text import block_text

_MOST: Final = 2_000
_DEEPEST: Final = 4
_NAMES: Final = ("document_id", "file_id", "source_id", "source", "url", "uri", "title", "document_title", "id")
"""Where a record may name its source, the most telling first."""

_OWN: Final = "id"
"""This one may be the record's own: it counts only when it is the id of a passage."""

_INDICES: Final = ("document_index", "documentIndex", "search_result_index", "searchResultIndex")
_COHERE: Final = re.compile(r"doc[_:](\d{1,4})")
"""Ids that Cohere gives to documents without one, counted from 0."""


def may_annotate(message: BaseMessage) -> bool:
    """Whether there is anything in `message` beside plain text: most answers end here."""
    beside = message.additional_kwargs
    if METADATA in message.response_metadata:
        return True
    return type(beside) is not dict or bool(beside) or not isinstance(message.content, str)  # pyright: ignore[reportUnknownArgumentType] - any dict


def annotated(message: BaseMessage, citable: Citable) -> Iterator[Cited]:
    """The citations that the provider reports in `message`, in the order of its records.

    Their places are the ranges of the answer's text that they are about, their markers the kinds of record.
    """
    found = list(islice(chain(_in_blocks(message), _in_kwargs(message)), _MOST))
    for record in found or islice(grounded(message), _MOST):
        start, end = record.about or (None, None)
        kind = record.fields.get("type")
        for name, valid in _resolved(record.fields, citable):
            marker = kind if isinstance(kind, str) and kind.isidentifier() else "citation"
            yield Cited(id=name, marker=marker, start=start, end=end, valid=valid)


def numbered_urls(message: BaseMessage) -> tuple[str, ...]:
    """The web pages that numbers in the answer count, for a provider that searched them itself (Perplexity)."""
    found = items_of(mapping_of(message.additional_kwargs).get("citations"))
    urls = tuple([url for url in found[:_MOST] if isinstance(url, str) and "://" in url])
    return urls if len(urls) == len(found) else ()


def _in_blocks(message: BaseMessage) -> Iterator[Record]:
    offset = 0
    for block in items_of(message.content):
        text = block_text(block)
        if text is None:
            continue
        for key in ("annotations", "citations"):
            for record in items_of(mapping_of(block).get(key)):
                fields = mapping_of(record)
                yield Record(fields, _about(fields, text, offset))
        offset += len(text)


def _in_kwargs(message: BaseMessage) -> Iterator[Record]:
    """Cohere's records: one per cited range, with ids of documents or with sources."""
    for record in items_of(mapping_of(message.additional_kwargs).get("citations")):
        fields = mapping_of(record)
        start, end = count_of(fields.get("start")), count_of(fields.get("end"))
        about = (start, end) if start is not None and end is not None else None
        for document in items_of(fields.get("document_ids")):
            yield Record({"document_id": document}, about)
        for source in items_of(fields.get("sources")):
            yield Record(mapping_of(source), about)


def _about(fields: Mapping[object, object], text: str, offset: int) -> Range | None:
    """The range of the answer that a record in a block is about: as it says, else the whole block."""
    start, end = count_of(fields.get("start_index")), count_of(fields.get("end_index"))
    if end is None:
        return None if "file_id" in dict(_walk(fields)) else (offset, offset + len(text))
    if any(key == GROUNDED for key, _ in _walk(fields)):
        start, end = characters(text, start or 0), characters(text, end)
    start = min(start or 0, len(text))
    return offset + start, offset + max(start, min(end, len(text)))


def _resolved(fields: Mapping[object, object], citable: Citable) -> Iterator[tuple[str, bool]]:
    found = dict(_walk(fields))
    names = {key: found[key] for key in _NAMES if key in found}
    texts = {key: text.strip() for key, text in names.items() if isinstance(text, str) and text.strip()}
    for text in texts.values():
        if seen := citable.seen(text):
            yield seen, True
            return
    quoted = citable.quoted(quote) if (quote := _quote(found)) else ()
    index = next((number for key in _INDICES if (number := count_of(found.get(key))) is not None), None)
    if index is None and (cohere := next(filter(None, map(_COHERE.fullmatch, texts.values())), None)):
        index = int(cohere[1])
    if quoted:
        named = None if index is None else citable.at(index + 1)
        yield (named if named in quoted else quoted[0]), True
        return
    if index is not None and (seen := citable.at(index + 1)):
        yield seen, True
        return
    known = [text for text in texts.values() if citable.known(text)]
    named = [text[:LONGEST_ID] for key, text in texts.items() if key != _OWN]
    for name in [*known, *named, *([] if index is None else [str(index)])][:1]:
        yield name, False


def _quote(found: Mapping[str, object]) -> str:
    """What a record says that it quotes from its source; Google's quotes are of the answer."""
    quote = found.get("source_text")
    if not isinstance(quote, str) and GROUNDED not in found:
        quote = found.get("cited_text") or "".join(
            [
                text
                for item in items_of(found.get("source_content"))
                if isinstance(text := mapping_of(item).get("text"), str)
            ]
        )
    return quote.strip() if isinstance(quote, str) else ""


def _walk(fields: Mapping[object, object], depth: int = 0) -> Iterator[tuple[str, object]]:
    """Keys and values of a record and of the mappings inside it, the outer ones last, to prevail in a dict."""
    if depth < _DEEPEST:
        for value in islice(fields.values(), _MOST):
            yield from _walk(mapping_of(value), depth + 1)
        for key, value in islice(fields.items(), _MOST):
            yield str(key), value
