"""Google's citations: which chunks, found on the web or in a store of its own, support which part of the answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from langchain_core.messages import BaseMessage

from rag_probe_langchain.locating.places import Range
from rag_probe_langchain.reading.loose import count_of, items_of, mapping_of
from rag_probe_langchain.reading.prompt_text import message_text

METADATA: Final = "grounding_metadata"
GROUNDED: Final = "grounding_chunk_index"
"""The field by which a record of Google's is known, also in LangChain's standard form."""

_KINDS: Final = ("web", "retrieved_context", "maps")
_FIELDS: Final = {"url": "uri", "title": "title", "source_text": "text"}


class Record(NamedTuple):
    """One citation as a provider reports it, and the range of the answer's text that it is about."""

    fields: Mapping[object, object]
    about: Range | None


def grounded(message: BaseMessage) -> Iterator[Record]:
    """The records in `response_metadata`, one for each supported part and chunk."""
    metadata = mapping_of(message.response_metadata.get(METADATA))
    chunks = items_of(metadata.get("grounding_chunks"))
    text = message_text(message)
    for support in map(mapping_of, items_of(metadata.get("grounding_supports"))):
        segment = mapping_of(support.get("segment"))
        end = count_of(segment.get("end_index"))
        about = (
            None
            if end is None
            else (characters(text, count_of(segment.get("start_index")) or 0), characters(text, end))
        )
        for index in map(count_of, items_of(support.get("grounding_chunk_indices"))):
            if index is not None and index < len(chunks):
                yield Record({**_chunk(mapping_of(chunks[index])), GROUNDED: index}, about)


def characters(text: str, size: int) -> int:
    """The code points in `size` bytes of UTF-8, which is what Google counts."""
    return len(text.encode("utf-8", "replace")[:size].decode("utf-8", "ignore"))


def _chunk(chunk: Mapping[object, object]) -> dict[object, object]:
    kinds = [fields for kind in _KINDS if (fields := mapping_of(chunk.get(kind)))]
    if not kinds:
        return {}
    named: dict[object, object] = {name: kinds[0].get(key) for name, key in _FIELDS.items()}
    return {name: value for name, value in named.items() if value is not None}
