"""Citations in structured output: `{"answer": …, "citations": ["doc-7", 2, {"id": "doc-9"}]}`, at any depth."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Final

from langchain_core.documents import Document
from langchain_core.messages import BaseMessage

from rag_probe_langchain.citing.citable import LONGEST_ID, Citable, Cited
from rag_probe_langchain.reading.loose import count_of, items_of, mapping_of

_LISTS: Final = frozenset(
    {
        "citation",
        "citations",
        "citation_ids",
        "cited_ids",
        "cited_sources",
        "cited_documents",
        "sources",
        "source_ids",
        "references",
        "reference_ids",
    }
)
_IDS: Final = (
    "id",
    "document_id",
    "doc_id",
    "chunk_id",
    "source_id",
    "citation_id",
    "passage_id",
    "source",
    "url",
    "title",
)
_PASSAGE: Final = "page_content"
_ANSWERS: Final = ("answer", "text", "output", "response", "result", "content")
_MOST: Final = 2_000
_DEEPEST: Final = 5


def listed(output: Mapping[object, object], citable: Citable) -> Iterator[Cited]:
    """The citations in lists of a structured output. Every entry counts, also one that names nothing known.

    Strings and `id` fields name passages, numbers count them from 1. Passages themselves (documents) are no citations:
    an app that returns what it retrieved as `sources` has not cited it.
    """
    for key, entry in islice(_entries(output, 0), _MOST):
        for written in _written(entry, citable):
            name, valid = citable.resolve(written) or (written[:LONGEST_ID], False)
            yield Cited(id=name, marker=key, start=None, end=None, valid=valid)


def answer_text(output: Mapping[object, object]) -> str | None:
    """The text of the answer in a structured output, where it has one of the usual names."""
    return next((text for key in _ANSWERS if isinstance(text := output.get(key), str)), None)


def _entries(output: Mapping[object, object], depth: int) -> Iterator[tuple[str, object]]:
    for key, value in islice(output.items(), _MOST):
        if isinstance(key, str) and key.lower() in _LISTS:
            yield from ((key, entry) for entry in items_of(value) or (value,))
        elif depth < _DEEPEST:
            for inner in items_of(value)[:_MOST] or (value,):
                if not isinstance(inner, (Document, BaseMessage)):
                    yield from _entries(mapping_of(inner), depth + 1)


def _written(entry: object, citable: Citable) -> Iterator[str]:
    number = count_of(entry)
    if number is not None:
        yield str(number)
    elif isinstance(entry, str):
        yield from _split(entry.strip(), citable)
    elif not isinstance(entry, Document):
        fields = mapping_of(entry)
        if _PASSAGE not in fields:
            named = (fields.get(key) for key in _IDS)
            yield from islice((text for value in named for text in _plain(value)), 1)


def _split(text: str, citable: Citable) -> Iterator[str]:
    """`text`, or the ids and numbers that it lists with commas between."""
    parts = [part for part in map(str.strip, text.split(",")) if part]
    if len(parts) > 1 and all(citable.resolve(part) or citable.looks_like_id(part) for part in parts):
        yield from parts
    elif text:
        yield text


def _plain(value: object) -> Iterator[str]:
    number = count_of(value)
    if number is not None:
        yield str(number)
    elif isinstance(value, str) and value.strip():
        yield value.strip()
