"""Search over the passages: BM25 over all words, then a short list of the best."""

# bm25s has no complete types:
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

import bm25s
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import PrivateAttr


class Bm25Retriever(BaseRetriever):
    """The `k` visible passages that share the rarest words with the question; none that shares no word."""

    passages: Sequence[Document]
    visible: Callable[[Document], bool] = lambda _: True
    """The part of access control that lives in the index: what it refuses is never returned."""
    k: int = 10
    _index: bm25s.BM25 = PrivateAttr(default_factory=bm25s.BM25)

    def model_post_init(self, context: object, /) -> None:
        """Build the index once."""
        super().model_post_init(context)
        self._index.index(_words([passage.page_content for passage in self.passages]), show_progress=False)

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,  # noqa: ARG002 - the signature is LangChain's
    ) -> list[Document]:
        scores = cast("Sequence[float]", self._index.get_scores(_words([query])[0]).tolist())
        hits = [
            passage.model_copy(update={"metadata": {**passage.metadata, "score": round(score, 4)}})
            for score, passage in zip(scores, self.passages, strict=True)
            if score > 0 and self.visible(passage)
        ]
        return sorted(hits, key=_score, reverse=True)[: self.k]


class Shortlist(BaseRetriever):
    """Asks `base` widely and returns its best `k`, leaving out what scores far below the first."""

    base: BaseRetriever
    k: int
    floor: float = 0.3
    """The lowest score that is kept, as a share of the best one."""

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        found = self.base.invoke(query, config={"callbacks": run_manager.get_child()})
        return [passage for passage in found[: self.k] if _score(passage) >= self.floor * _score(found[0])]


def _words(texts: list[str]) -> list[list[str]]:
    return cast("list[list[str]]", bm25s.tokenize(texts, return_ids=False, show_progress=False))


def _score(passage: Document) -> float:
    return cast("float", passage.metadata["score"])
