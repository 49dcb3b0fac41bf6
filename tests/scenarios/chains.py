"""Chains of langchain_classic that people still run."""

from __future__ import annotations

from typing import Any

from langchain_classic.chains import ConversationalRetrievalChain, RetrievalQA
from langchain_classic.chains.combine_documents import create_stuff_documents_chain
from langchain_classic.chains.history_aware_retriever import create_history_aware_retriever
from langchain_classic.chains.retrieval import create_retrieval_chain
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder

from tests.rag_probe_langchain.apps import ANSWER, Scripted, Search, passages

QUESTION = "And in the sale?"
TALK = [HumanMessage("How long do I have?"), AIMessage("Thirty days.")]
REWRITTEN = "How long do I have in the sale?"
STUFF = ChatPromptTemplate.from_messages(
    [("system", "Answer from:\n{context}"), MessagesPlaceholder("chat_history", optional=True), ("human", "{input}")]
)
REWRITE = ChatPromptTemplate.from_messages(
    [MessagesPlaceholder("chat_history"), ("human", "{input}"), ("human", "Rephrase the question.")]
)


def search() -> Search:
    return Search(found=passages("returns", "sale", "gift"))


def retrieval_chain() -> Any:
    return create_retrieval_chain(search(), create_stuff_documents_chain(Scripted(answers=[ANSWER]), STUFF))


def history_aware() -> Any:
    model = Scripted(answers=[REWRITTEN, ANSWER])
    return create_retrieval_chain(
        create_history_aware_retriever(model, search(), REWRITE), create_stuff_documents_chain(model, STUFF)
    )


def words(text: str) -> list[int]:
    return [len(word) for word in text.split()]


def retrieval_qa(kind: str, *answers: str) -> Any:
    model = Scripted(answers=list(answers), custom_get_token_ids=words)
    return RetrievalQA.from_chain_type(model, chain_type=kind, retriever=search(), return_source_documents=True)


def conversational() -> Any:
    return ConversationalRetrievalChain.from_llm(Scripted(answers=[REWRITTEN, ANSWER]), search())


CHAINS: dict[str, tuple[Any, Any]] = {
    "create_retrieval_chain": (retrieval_chain, {"input": QUESTION}),
    "create_history_aware_retriever": (history_aware, {"input": QUESTION, "chat_history": TALK}),
    "a first question without a history": (history_aware, {"input": QUESTION, "chat_history": []}),
    "RetrievalQA": (lambda: retrieval_qa("stuff", ANSWER), {"query": QUESTION}),
    "RetrievalQA, refined": (
        lambda: retrieval_qa("refine", "Thirty days, in the box.", "Thirty days; fourteen in the sale.", ANSWER),
        {"query": QUESTION},
    ),
    "RetrievalQA, refined from short drafts": (
        lambda: retrieval_qa("refine", "No.", "No.", "Yes."),
        {"query": QUESTION},
    ),
    "RetrievalQA, ranked": (
        lambda: retrieval_qa("map_rerank", "Thirty days.\nScore: 50", "Fourteen.\nScore: 90", "None.\nScore: 10"),
        {"query": QUESTION},
    ),
    "RetrievalQA, reduced": (
        lambda: retrieval_qa(
            "map_reduce", "Thirty days in the box.", "Fourteen in the sale.", "Not gift cards.", ANSWER
        ),
        {"query": QUESTION},
    ),
    "ConversationalRetrievalChain": (
        conversational,
        {"question": QUESTION, "chat_history": [("How long do I have?", "Thirty days.")]},
    ),
}
