"""The passages that one request has seen: which list holds which ids, and every text once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from langchain_core.documents import Document

from rag_probe.policy import CapturePolicy
from rag_probe.stages import Chunks
from rag_probe_langchain.identity import identify, number
from rag_probe_langchain.run import Ids

_LISTS: Final = 256
_DOCUMENTS: Final = 10_000
"""Bounds of what one request may keep alive."""


class _Seen(NamedTuple):
    """A list as it was when it was last looked at; it is held so that its `id()` stays its own."""

    passages: Sequence[object]
    copy: list[object]
    ids: Ids


class Documents:
    """Identity of passages by object first: a passage or list that was seen before costs one look-up."""

    __slots__ = ("_alive", "_by_object", "_lists", "_policy", "scores", "texts")

    def __init__(self, policy: CapturePolicy) -> None:
        self._policy = policy
        self._by_object: dict[int, str] = {}
        self._alive: list[Sequence[Document]] = []
        self._lists: dict[int, _Seen] = {}
        self.texts: dict[str, dict[str, None]] = {}
        """Every text that was seen, with the ids of the passages that have it."""
        self.scores: dict[str, float | None] = {}

    def __len__(self) -> int:
        return len(self._by_object)

    def knows(self, passages: Sequence[object]) -> bool:
        """Whether one of `passages` was seen before."""
        return any(id(item) in self._by_object for item in bare(passages))

    def before(self, passages: Sequence[object]) -> Ids:
        """The ids as they were when the list was last looked at: a step may have changed it in place since."""
        seen = self._lists.get(id(passages))
        return self.now(passages) if seen is None else seen.ids

    def now(self, passages: Sequence[object]) -> Ids:
        """The ids in their present order."""
        seen = self._lists.get(id(passages))
        if seen is not None and len(seen.copy) == len(passages) and all(map(_is, seen.copy, passages)):
            return seen.ids
        documents = bare(passages)
        try:
            ids = tuple([self._by_object[id(document)] for document in documents])
        except KeyError:
            return self.add(passages).ids
        self._remember(passages, ids)
        return ids

    def add(self, passages: Sequence[object]) -> Chunks:
        """Identify `passages`, remember them, and return their columns."""
        documents = bare(passages)
        chunks = identify(documents, self._policy, len(self._by_object))
        if documents is not passages:
            pairs = tuple(number(pair[1]) for pair in passages if isinstance(pair, tuple))
            chunks = replace(chunks, scores=pairs)
        if len(self._by_object) + len(documents) <= _DOCUMENTS:
            self._by_object.update(zip(map(id, documents), chunks.ids, strict=True))
            self._alive.append(documents)
            for name, document in zip(chunks.ids, documents, strict=True):
                self.texts.setdefault(document.page_content, {})[name] = None
        if chunks.scores:
            self.scores.update(zip(chunks.ids, chunks.scores, strict=True))
        self._remember(passages, chunks.ids)
        return chunks

    def _remember(self, passages: Sequence[object], ids: Ids) -> None:
        if len(self._lists) >= _LISTS:
            del self._lists[next(iter(self._lists))]
        self._lists[id(passages)] = _Seen(passages, list(passages), ids)


def bare(passages: Sequence[object]) -> Sequence[Document]:
    """The Documents of a list of Documents or of (Document, score) pairs; others in it are left out."""
    if all(map(_is_document, passages)):
        return passages  # type: ignore[return-value]  # just checked
    first = [item[0] if isinstance(item, tuple) and item else item for item in passages]
    return [item for item in first if isinstance(item, Document)]


def _is_document(item: object) -> bool:
    return isinstance(item, Document)


def _is(one: object, other: object) -> bool:
    return one is other
