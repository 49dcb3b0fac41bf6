"""The passages that one question has seen: which list holds which ids, and every text once."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import replace
from itertools import chain
from operator import is_
from typing import Final, NamedTuple

from langchain_core.documents import Document

from rag_probe.measured import number
from rag_probe.policy import CapturePolicy
from rag_probe.stages import Chunks
from rag_probe.wire.retrieval import Plain
from rag_probe_langchain.identity import columns_of
from rag_probe_langchain.plain import plain
from rag_probe_langchain.rows import Rows, rows_of
from rag_probe_langchain.run import Ids
from rag_probe_langchain.scan import is_document, is_pair, sequence
from rag_probe_langchain.scores import Scores

_LISTS: Final = 256
_DOCUMENTS: Final = 10_000
"""Bounds of what one question may keep alive."""
_SEARCHED: Final = 50_000_000
"""Characters in which one question's passages without names are searched: some 50 ms. What comes later is itself."""
_LOOK: Final = 50
"""What looking into a passage costs at least, in characters searched."""
_DOCUMENT: Final = {Document}
_WEAK: Final = frozenset({"content", "position"})
"""Rules that say nothing but what the text is: a passage cut from another one is that one."""


class _Seen(NamedTuple):
    """A list as it was when it was last looked at; it is held so that its `id()` stays its own."""

    passages: Sequence[object]
    copy: list[object]
    ids: Ids


class Documents:
    """Identity of passages by object first: a passage or a list that was seen before costs one look-up."""

    __slots__ = (
        "_alive",
        "_by_object",
        "_lists",
        "_policy",
        "_searched",
        "_variants",
        "any",
        "missed",
        "owners",
        "scores",
        "whole",
        "written",
    )

    def __init__(self, policy: CapturePolicy) -> None:
        self._policy = policy
        self._by_object: dict[int, str] = {}
        self._alive: list[Sequence[Document]] = []
        self._lists: dict[int, _Seen] = {}
        self._searched = 0
        self.any = False
        """Whether there was any."""
        self.missed = False
        """Whether there were too many to remember them all."""
        self.owners: dict[str, str | dict[str, None]] = {}
        """Every text that was seen, with the id of its passage, or of all that share it, in first-seen order."""
        self.whole: dict[str, str] = {}
        """The longest text of each id."""
        self._variants: dict[str, list[str]] = {}
        self.scores = Scores()
        self.written: dict[str, str] = {}
        """What a model wrote that was shown one passage only, with that passage's id."""

    def news(self, passages: Sequence[object]) -> list[Document]:
        """Those of `passages` that were never seen, neither as this object nor as another one of that id.

        Empty, when there were too many to know that.
        """
        if self.missed or self._by_object.keys() >= set(map(id, passages)):
            return []
        strangers = [item for item in bare(passages) if id(item) not in self._by_object]
        if not strangers:
            return strangers
        ids = self._identify(rows_of(strangers)).ids
        return [item for item, name in zip(strangers, ids, strict=True) if name not in self.whole]

    def seen(self, value: object) -> Ids:
        """What a list held when it was last looked at; `()` of all else."""
        seen = self._lists.get(id(value))
        return () if seen is None else seen.ids

    def before(self, passages: Sequence[object]) -> Ids:
        """The ids as they were when the list was last looked at: a step may have changed it in place since."""
        seen = self._lists.get(id(passages))
        if seen is not None:
            return seen.ids
        return self.now(passages) if passages else ()

    def now(self, passages: Sequence[object]) -> Ids:
        """The ids in their present order."""
        ids = self.known(passages)
        if ids is None:
            ids = self._known_pairs(passages)
        if ids is None:
            return self.add(passages).ids
        self.remember(passages, ids)
        return ids

    def known(self, passages: Sequence[object]) -> Ids | None:
        """The ids in their present order; None where one of the passages was never seen as this object."""
        seen = self._lists.get(id(passages))
        if seen is not None and len(seen.copy) == len(passages) and all(map(is_, seen.copy, passages)):
            return seen.ids
        try:
            return tuple(map(self._by_object.__getitem__, map(id, passages)))
        except KeyError:
            return None

    def remember(self, passages: Sequence[object], ids: Ids) -> None:
        """Note that this is what the list holds now."""
        if len(self._lists) >= _LISTS:
            del self._lists[next(iter(self._lists))]
        self._lists[id(passages)] = _Seen(passages, list(passages), ids)

    def name_of(self, document: Document) -> str:
        """The id of one passage, seen before or not."""
        known = self._by_object.get(id(document))
        return self.add([document]).ids[0] if known is None else known

    def add(self, passages: Sequence[object]) -> Chunks:
        """Identify `passages`, remember them, and return their columns."""
        documents = bare(passages)
        rows = rows_of(documents)
        chunks = self._identify(rows)
        if self.written:
            chunks = self._descend(chunks, rows.texts)
        if documents is not passages:
            chunks = replace(chunks, scores=_paired(passages))
        self._keep(passages, documents, rows.texts, chunks.ids, chunks.scores)
        return chunks

    def add_plain(self, passages: Sequence[object]) -> Plain | None:
        """`add` of the usual list, at a glance; None, and nothing done, for all else."""
        if self.written or set(map(type, passages)) != _DOCUMENT:
            return None
        documents: Sequence[Document] = passages  # pyright: ignore[reportAssignmentType] - just checked
        rows = rows_of(documents)
        columns = plain(rows, self._policy)
        if columns is not None:
            self._keep(passages, documents, rows.texts, columns.ids, columns.scores)
        return columns

    def texts_of(self, ids: Ids) -> list[str]:
        """The texts of these passages, the longest first where one has several."""
        texts = [self.whole[name] for name in dict.fromkeys(ids) if name in self.whole]
        if self._variants:
            texts += [text for name in ids for text in self._variants.get(name, ())]
            return list(dict.fromkeys(texts))
        return texts if len(set(texts)) == len(texts) else list(dict.fromkeys(texts))

    def reread(self, ids: Ids) -> bool:
        """Look at these passages again, whose texts a step may have changed in place; whether it did."""
        wanted = set(ids)
        alive = {id(document): document for document in chain.from_iterable(self._alive)}
        again = [key for key in alive if self._by_object.get(key) in wanted]
        texts = rows_of([alive[key] for key in again]).texts
        changed = [
            (self._by_object[key], text)
            for key, text in zip(again, texts, strict=True)
            if text and text not in self.owners
        ]
        self._note([name for name, _ in changed], [text for _, text in changed])
        return bool(changed)

    def alone(self, ids: Ids) -> list[str] | None:
        """The texts of these passages; None unless each is the only text of its passage, and of that one only."""
        texts: list[str] = list(map(self.whole.get, ids))  # pyright: ignore[reportAssignmentType] - no owner of None
        return None if self._variants or tuple(map(self.owners.get, texts)) != ids else texts

    def wrote(self, text: str, seen: Ids) -> None:
        """Note what a model made of one passage: a passage with that text is made from it."""
        if len(set(seen)) == 1 and text.strip() and len(self.written) < _LISTS:
            self.written[text.strip()] = seen[0]

    def _identify(self, rows: Rows) -> Chunks:
        chunks = columns_of(rows, self._policy, len(self.whole))
        if not chunks.id_rules or not self.owners:
            return chunks
        ids: list[str] = []
        taken: set[str] = set()
        for name, rule, text in zip(chunks.ids, chunks.id_rules, rows.texts, strict=True):
            ids.append(self._origin(name, text, taken) if rule in _WEAK else name)
            taken.add(ids[-1])
        triples = zip(ids, chunks.ids, chunks.id_rules, strict=True)
        rules = tuple([rule if name == own else "content" for name, own, rule in triples])
        return replace(chunks, ids=tuple(ids), id_rules=rules)

    def _origin(self, name: str, text: str, taken: Container[str]) -> str:
        """The passage that one without a name of its own is a copy or a piece of, else itself.

        Where several share that text, the first that is not `taken` yet.
        """
        if not text.strip():
            return name
        owners = self.owners.get(text)
        if owners is not None:
            free = (one for one in owners if one not in taken)
            return owners if isinstance(owners, str) else next(free, next(iter(owners)))
        for longer, owners in self.owners.items():
            self._searched += len(longer) + _LOOK
            if self._searched > _SEARCHED:
                break
            if text in longer:
                return owners if isinstance(owners, str) else next(iter(owners))
        return name

    def _descend(self, chunks: Chunks, texts: Sequence[str]) -> Chunks:
        """Add the parents of passages that a model wrote."""
        parents = [
            None if name in self.whole or text in self.owners else self.written.get(text.strip())
            for name, text in zip(chunks.ids, texts, strict=True)
        ]
        return replace(chunks, parents=tuple(parents)) if any(parents) else chunks

    def _known_pairs(self, passages: Sequence[object]) -> Ids | None:
        """`known` of passages with scores, which are noted."""
        documents = bare(passages)
        ids = tuple(filter(None, map(self._by_object.get, map(id, documents))))
        if documents is passages or len(ids) < len(documents):
            return None
        self.scores.note(ids, _paired(passages))
        return ids

    def _keep(
        self,
        passages: Sequence[object],
        documents: Sequence[Document],
        texts: Sequence[str],
        ids: Ids,
        scores: Sequence[float | None],
    ) -> None:
        """Remember a list, and its passages while there are not too many."""
        if documents and len(self._by_object) + len(documents) <= _DOCUMENTS:
            self.any = True
            self._by_object.update(zip(map(id, documents), ids, strict=True))
            self._alive.append(documents if isinstance(documents, tuple) else list(documents))
            self._note(ids, texts)
        elif documents:
            self.any = self.missed = True
        self.scores.note(ids, scores)
        self.remember(passages, ids)

    def _note(self, ids: Sequence[str], texts: Sequence[str]) -> None:
        are_apart = len(set(ids)) == len(set(texts)) == len(ids)
        if are_apart and self.whole.keys().isdisjoint(ids) and self.owners.keys().isdisjoint(texts):
            self.owners.update(zip(texts, ids, strict=True))
            self.whole.update(zip(ids, texts, strict=True))
            return
        for name, text in zip(ids, texts, strict=True):
            longest = self.whole.setdefault(name, text)
            if longest != text:
                self.whole[name], shorter = (text, longest) if len(text) > len(longest) else (longest, text)
                self._variants.setdefault(name, []).append(shorter)
            known = self.owners.setdefault(text, name)
            if not isinstance(known, str):
                known[name] = None
            elif known != name:
                self.owners[text] = {known: None, name: None}


def bare(passages: Sequence[object]) -> Sequence[Document]:
    """The Documents of a list of Documents or of (Document, score) pairs; what else is in it is left out."""
    if set(map(type, passages)) <= _DOCUMENT or all(map(is_document, passages)):
        return passages  # pyright: ignore[reportReturnType] - just checked
    firsts = [pair[0] if is_pair(item) and (pair := sequence(item)) else item for item in passages]
    return [item for item in firsts if is_document(item)]


def _paired(passages: Sequence[object]) -> tuple[float | None, ...]:
    pairs = [sequence(item) for item in passages if is_document(item) or is_pair(item)]
    scores = tuple(None if pair is None else number(pair[1]) for pair in pairs)
    return scores if any(score is not None for score in scores) else ()
