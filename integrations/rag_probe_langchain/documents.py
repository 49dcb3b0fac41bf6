"""The passages that one question has seen: which list holds which ids, and every text once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final, NamedTuple, cast

from langchain_core.documents import Document

from rag_probe.policy import CapturePolicy
from rag_probe.stages import Chunks
from rag_probe_langchain.identity import identify, number
from rag_probe_langchain.run import Ids
from rag_probe_langchain.scan import is_pair, sequence

_LISTS: Final = 256
_DOCUMENTS: Final = 10_000
"""Bounds of what one question may keep alive."""
_WEAK: Final = frozenset({"content", "position"})
"""Rules that say nothing but what the text is: a passage cut from another one is that one."""


class _Seen(NamedTuple):
    """A list as it was when it was last looked at; it is held so that its `id()` stays its own."""

    passages: Sequence[object]
    copy: Sequence[object]
    ids: Ids


class Documents:
    """Identity of passages by object first: a passage or a list that was seen before costs one look-up."""

    __slots__ = ("_alive", "_by_object", "_lists", "_policy", "owners", "rescored", "scores", "whole")

    def __init__(self, policy: CapturePolicy) -> None:
        self._policy = policy
        self._by_object: dict[int, str] = {}
        self._alive: list[Sequence[Document]] = []
        self._lists: dict[int, _Seen] = {}
        self.owners: dict[str, list[str]] = {}
        """Every text that was seen, with the ids of the passages that have it, in first-seen order."""
        self.whole: dict[str, str] = {}
        """The longest text of each id."""
        self.scores: dict[str, float | None] = {}
        """The latest known."""
        self.rescored: set[str] = set()
        """Ids that came back with another score."""

    def __len__(self) -> int:
        return len(self.whole)

    def knows(self, passages: Sequence[object]) -> bool:
        """Whether one of `passages` was seen before, as this object."""
        return any(id(item) in self._by_object for item in bare(passages))

    def before(self, passages: Sequence[object]) -> Ids:
        """The ids as they were when the list was last looked at: a step may have changed it in place since."""
        seen = self._lists.get(id(passages))
        if seen is not None:
            return seen.ids
        return self.now(passages) if passages else ()

    def now(self, passages: Sequence[object]) -> Ids:
        """The ids in their present order."""
        seen = self._lists.get(id(passages))
        if seen is not None and len(seen.copy) == len(passages) and all(map(_is, seen.copy, passages)):
            return seen.ids
        try:
            ids = tuple([self._by_object[id(document)] for document in bare(passages)])
        except KeyError:
            return self.add(passages).ids
        if bare(passages) is not passages:
            self._score(ids, _paired(passages))
        self._remember(passages, ids)
        return ids

    def add(self, passages: Sequence[object]) -> Chunks:
        """Identify `passages`, remember them, and return their columns."""
        documents = bare(passages)
        chunks = identify(documents, self._policy, len(self.whole))
        texts = [document.page_content for document in documents]
        if chunks.id_rules:
            chunks = replace(chunks, ids=tuple(map(self._origin, chunks.ids, chunks.id_rules, texts)))
        if documents is not passages:
            chunks = replace(chunks, scores=_paired(passages))
        if len(self._by_object) + len(documents) <= _DOCUMENTS:
            self._by_object.update(zip(map(id, documents), chunks.ids, strict=True))
            self._alive.append(documents)
            self._note(chunks.ids, texts)
        self._score(chunks.ids, chunks.scores)
        self._remember(passages, chunks.ids)
        return chunks

    def _origin(self, name: str, rule: str | None, text: str) -> str:
        """The passage that one without a name of its own was cut from, else itself."""
        if rule in _WEAK and text not in self.owners and text.strip():
            for longer, owners in self.owners.items():
                if text in longer:
                    return owners[0]
        return name

    def _note(self, ids: Ids, texts: Iterable[str]) -> None:
        for name, text in zip(ids, texts, strict=True):
            known = self.whole.get(name)
            if known is None or len(known) < len(text):
                self.whole[name] = text
            if known is not text:
                owners = self.owners.setdefault(text, [])
                if name not in owners:
                    owners.append(name)

    def _score(self, ids: Ids, scores: Sequence[float | None]) -> None:
        for name, score in zip(ids, scores, strict=False):
            if score is not None and self.scores.setdefault(name, score) != score:
                self.scores[name] = score
                self.rescored.add(name)

    def _remember(self, passages: Sequence[object], ids: Ids) -> None:
        if len(self._lists) >= _LISTS:
            del self._lists[next(iter(self._lists))]
        self._lists[id(passages)] = _Seen(passages, tuple(passages), ids)


def bare(passages: Sequence[object]) -> Sequence[Document]:
    """The Documents of a list of Documents or of (Document, score) pairs; what else is in it is left out."""
    if all(map(_is_document, passages)):
        return cast("Sequence[Document]", passages)
    firsts = [pair[0] if is_pair(item) and (pair := sequence(item)) else item for item in passages]
    return [item for item in firsts if isinstance(item, Document)]


def _paired(passages: Sequence[object]) -> tuple[float | None, ...]:
    pairs = [sequence(item) for item in passages if isinstance(item, Document) or is_pair(item)]
    scores = tuple(None if pair is None else number(pair[1]) for pair in pairs)
    return scores if any(score is not None for score in scores) else ()


def _is_document(item: object) -> bool:
    return isinstance(item, Document)


def _is(one: object, other: object) -> bool:
    return one is other
