"""What a question had found when it paused: the state that it goes on with holds it, in lists or in its messages."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Final, cast

from langchain_core.documents import Document
from langchain_core.messages import BaseMessage, HumanMessage, ToolMessage

from rag_probe_langchain.known import known_to, minimal
from rag_probe_langchain.reading.document_reprs import documents_in
from rag_probe_langchain.run import Run
from rag_probe_langchain.scan import is_document, lists_in, mapping, sequence

_MESSAGES: Final = 256
"""That are looked at, the latest first."""
_DEPTH: Final = 2
"""Lists in lists: passages may come with their scores."""


def recall(node: Run) -> None:
    """The first node of a run that goes on: the passages of its state are known, its narrowest lists the last set.

    Without any list, it is what the last of the turn's searches gave. Called before the node has a set of its own.
    """
    documents = node.request.documents
    if documents.any:
        return
    searches = [documents.add(passages).ids for passages in _found_in_turn(node.inputs)]
    lists = [documents.add(found.passages).ids for found in lists_in(node.inputs) if found.passages]
    if searches or lists:
        known_to(node.parent, node.request).last = minimal(lists or searches[-1:])


def _found_in_turn(state: object) -> list[list[object]]:
    """One list for each call of the model, the oldest first; of an earlier question's searches nothing."""
    searches: list[list[object]] = [[]]
    for message in islice(reversed(_messages(state)), _MESSAGES):
        if isinstance(message, HumanMessage):
            break
        if isinstance(message, ToolMessage):
            searches[-1][:0] = _given(message)
        else:
            searches.append([])
    return [passages for passages in reversed(searches) if passages]


def _messages(state: object) -> Sequence[object]:
    lists = map(sequence, (mapping(state) or {}).values())
    return next((each for each in lists if each and isinstance(each[-1], BaseMessage)), ())


def _given(message: ToolMessage) -> list[object]:
    """The passages in a tool's artifact, else those quoted in its text."""
    artifact = _opened(cast("object", message.artifact))
    given = [passage for found in lists_in(artifact) for passage in found.passages]
    if given or not isinstance(message.content, str):
        return given
    return [*documents_in(message.content)]


def _opened(artifact: object, depth: int = _DEPTH) -> object:
    """LangGraph's stores give the passages of an artifact back as bare data."""
    items = sequence(artifact)
    if items is not None:
        return [_opened(item, depth - 1) for item in items] if depth else items
    given = mapping(artifact)
    text = None if given is None or given.get("type") != "Document" else given.get("page_content")
    if given is None or not isinstance(text, str) or is_document(artifact):
        return artifact
    name, metadata = given.get("id"), mapping(given.get("metadata")) or {}
    known = {key: value for key, value in metadata.items() if isinstance(key, str)}
    return Document(text, id=name if isinstance(name, str) else None, metadata=known)
