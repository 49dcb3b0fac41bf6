"""Retrievers inside retrievers: LangChain's own classes over a real vector store, with embeddings that are counted."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

from langchain_classic.retrievers import (
    ContextualCompressionRetriever,
    EnsembleRetriever,
    MergerRetriever,
    MultiQueryRetriever,
    MultiVectorRetriever,
    ParentDocumentRetriever,
    SelfQueryRetriever,
)
from langchain_classic.retrievers.document_compressors import (
    CrossEncoderReranker,
    DocumentCompressorPipeline,
    LLMChainExtractor,
    LLMChainFilter,
)
from langchain_classic.retrievers.document_compressors.cross_encoder import BaseCrossEncoder
from langchain_classic.storage import InMemoryStore
from langchain_core.documents import BaseDocumentCompressor, BaseDocumentTransformer, Document
from langchain_core.embeddings import Embeddings
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda
from langchain_core.structured_query import StructuredQuery, Visitor
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_text_splitters import CharacterTextSplitter
from pydantic import ConfigDict, Field

from tests.rag_probe_langchain.apps import TEXTS, Scripted, Search, passages

QUESTION = "How many days do I have to send goods back?"


class Words(Embeddings):
    """A dimension per word, by its checksum."""

    def embed_query(self, text: str) -> list[float]:
        counts = [0.0] * 64
        for word in text.lower().replace(".", " ").replace(",", " ").split():
            counts[zlib.crc32(word.encode()) % 64] += 1
        return counts

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.embed_query(text) for text in texts]


class ByLength(BaseCrossEncoder):
    """The shorter, the better."""

    def score(self, text_pairs: list[tuple[str, str]]) -> list[float]:
        return [-float(len(text)) for _, text in text_pairs]


class Scoring(BaseDocumentCompressor):
    """As Cohere's reranker does it: new documents without their ids, with a `relevance_score`, the best first."""

    top_n: int = 2

    def compress_documents(self, documents: Sequence[Document], query: str, callbacks: Any = None) -> list[Document]:
        best = sorted(documents, key=lambda each: len(each.page_content))[: self.top_n]
        return [
            Document(each.page_content, metadata={**each.metadata, "relevance_score": 1 / len(each.page_content)})
            for each in best
        ]


class Numbering(BaseDocumentCompressor):
    """As FlashRank does it: passages come back under their place in the list."""

    def compress_documents(self, documents: Sequence[Document], query: str, callbacks: Any = None) -> list[Document]:
        return [
            Document(each.page_content, metadata={**each.metadata, "id": place, "relevance_score": 1 / (place + 1)})
            for place, each in list(enumerate(documents))[::-1][:2]
        ]


class Judging(Scripted):
    """Says of each passage what it is told to, in whichever order it is asked."""

    answers: list[Any] = Field(default_factory=list)
    says: dict[str, str]
    disable_streaming: bool = True

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> Any:
        answer = next(said for name, said in self.says.items() if TEXTS[name] in messages[-1].content)
        return Scripted(answers=[answer])._generate(messages)


class Reversing(BaseDocumentTransformer):
    """A transformer that is no compressor, in a pipeline."""

    def transform_documents(self, documents: Sequence[Document], **kwargs: Any) -> list[Document]:
        return list(reversed(documents))


class First(BaseDocumentCompressor):
    """Cuts the list, as a `top_n` does."""

    n: int = 2

    def compress_documents(self, documents: Sequence[Document], query: str, callbacks: Any = None) -> list[Document]:
        return list(documents[: self.n])


class Lookup(BaseRetriever):
    """Small to big by hand: searches pieces with a retriever, returns what they are pieces of."""

    pieces: BaseRetriever
    parents: dict[str, Document]

    model_config = ConfigDict(arbitrary_types_allowed=True)

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        found = self.pieces.invoke(query, config={"callbacks": run_manager.get_child()})
        return [self.parents[name] for name in dict.fromkeys(each.metadata["parent"] for each in found)]


class Limit(Visitor):
    """No filters."""

    def visit_operation(self, operation: Any) -> Any:
        raise NotImplementedError

    def visit_comparison(self, comparison: Any) -> Any:
        raise NotImplementedError

    def visit_structured_query(self, structured_query: StructuredQuery) -> tuple[str, dict[str, Any]]:
        return structured_query.query, {}


def store(*names: str) -> InMemoryVectorStore:
    filled = InMemoryVectorStore(Words())
    filled.add_documents(passages(*names))
    return filled


def kb(*names: str, k: int = 4) -> BaseRetriever:
    """The first `k` of those passages, by words in common."""
    return store(*names).as_retriever(search_kwargs={"k": k})


def model(*answers: str) -> Scripted:
    return Scripted(answers=list(answers))


def judge(*answers: str) -> Judging:
    """Of the five passages."""
    return Judging(says=dict(zip(TEXTS, answers, strict=True)))


def compressed(*compressors: Any, base: Any = None) -> ContextualCompressionRetriever:
    one = compressors[0] if len(compressors) == 1 else DocumentCompressorPipeline(transformers=list(compressors))
    return ContextualCompressionRetriever(base_compressor=one, base_retriever=base or Search(found=passages()))


def unnamed(*names: str) -> list[Document]:
    """Passages that only their `Document.id` names, so that a copy has no name at all."""
    return [Document(id=name, page_content=TEXTS[name], metadata={"source": f"{name}.md"}) for name in names or TEXTS]


def parent_document() -> ParentDocumentRetriever:
    retriever = ParentDocumentRetriever(
        vectorstore=InMemoryVectorStore(Words()),
        docstore=InMemoryStore(),
        child_splitter=CharacterTextSplitter(separator=" ", chunk_size=40, chunk_overlap=0),
        search_kwargs={"k": 3},
    )
    retriever.add_documents(passages(), ids=list(TEXTS))
    return retriever


def multi_vector() -> MultiVectorRetriever:
    retriever = MultiVectorRetriever(vectorstore=InMemoryVectorStore(Words()), docstore=InMemoryStore())
    found = passages("returns", "sale", "gift")
    retriever.vectorstore.add_documents(
        [Document(f"Summary of {each.id}: goods sent back", metadata={"doc_id": each.id}) for each in found]
    )
    retriever.docstore.mset([(each.id, each) for each in found])
    return retriever


def self_query() -> SelfQueryRetriever:
    asked = RunnableLambda(lambda asked: asked["query"]) | model("goods") | RunnableLambda(_query)
    return SelfQueryRetriever(
        query_constructor=asked, vectorstore=store(), structured_query_translator=Limit(), search_kwargs={"k": 2}
    )


def _query(message: Any) -> StructuredQuery:
    return StructuredQuery(query=message.content, filter=None, limit=None)


def lookup() -> Lookup:
    big = {each.id: each for each in passages("returns", "sale")}
    small = [
        Document(id=f"{name}/{place}", page_content=piece, metadata={**each.metadata, "parent": name})
        for name, each in big.items()
        for place, piece in enumerate(each.page_content.split(" within "))
    ]
    return Lookup(pieces=Search(found=small), parents=big)


EXTRACTS = ["Thirty days for unused goods.", "NO_OUTPUT", "Gift cards: never.", "NO_OUTPUT", "NO_OUTPUT"]
"""What a model makes of the five passages; none of it is a piece of them."""
PIECES = ["within thirty days of delivery, unused", "NO_OUTPUT", "Gift cards are never taken back", "NO_OUTPUT", ""]

SHAPES: dict[str, Any] = {
    "a vector store": lambda: kb(k=3),
    "cut": lambda: compressed(First()),
    "a cross-encoder": lambda: compressed(CrossEncoderReranker(model=ByLength(), top_n=3)),
    "a reranker that scores": lambda: compressed(Scoring(), base=Search(found=unnamed())),
    "a reranker that numbers": lambda: compressed(Numbering(), base=Search(found=unnamed())),
    "a model that filters": lambda: compressed(LLMChainFilter.from_llm(judge("YES", "NO", "YES", "NO", "NO"))),
    "a model that extracts": lambda: compressed(
        LLMChainExtractor.from_llm(judge(*EXTRACTS)), base=Search(found=unnamed())
    ),
    "a model that cuts pieces out": lambda: compressed(
        LLMChainExtractor.from_llm(judge(*PIECES)), base=Search(found=unnamed())
    ),
    "pieces of named passages": lambda: compressed(LLMChainExtractor.from_llm(judge(*PIECES)), base=named()),
    "a pipeline": lambda: compressed(
        CharacterTextSplitter(separator=", ", chunk_size=50, chunk_overlap=0), Reversing(), First(n=3)
    ),
    "an ensemble": lambda: EnsembleRetriever(retrievers=[kb(k=2), kb("sale", "gift", "staff", k=2)]),
    "a merger": lambda: MergerRetriever(retrievers=[kb(k=2), kb("sale", "gift", "staff", k=2)]),
    "several queries": lambda: MultiQueryRetriever.from_llm(kb(k=2), model("goods back\ngift cards")),
    "a compressed ensemble": lambda: compressed(
        Scoring(), base=EnsembleRetriever(retrievers=[kb(k=2), kb("sale", "gift", "staff", k=2)])
    ),
    "an ensemble of which one is reranked": lambda: EnsembleRetriever(
        retrievers=[compressed(Scoring(), base=kb(k=3)), kb("sale", "gift", k=2)]
    ),
    "parents": parent_document,
    "summaries": multi_vector,
    "parents by hand": lookup,
    "a query that a model writes": self_query,
}


def named() -> Search:
    """Passages that their metadata name."""
    return Search(found=[Document(each.page_content, metadata={"id": each.id}) for each in passages()])
