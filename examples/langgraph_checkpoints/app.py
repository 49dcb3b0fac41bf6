"""A LangGraph app whose checkpoints lie in a file: it finds rules, keeps those of the customer's shop, and drafts.

`python app.py` answers three labelled questions and leaves checkpoints.db. Its model is scripted, so that it needs no
key; rag-probe has no part in it.
"""

# pyright: basic

from __future__ import annotations

from typing import TypedDict

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel, GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.retrievers import BaseRetriever
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph

RULES = {
    "returns": ("acme", "Goods can be sent back within thirty days of delivery, unused and in their box."),
    "sale": ("acme", "Articles bought in the sale can be sent back within fourteen days only."),
    "gift": ("acme", "Gift cards are never taken back, whatever the reason may be."),
    "globex": ("globex", "At Globex goods can be sent back within ninety days."),
}
QUESTIONS = {
    "returns-01": "How long can I send goods back?",
    "returns-02": "Can I send back articles bought in the sale?",
    "returns-03": "Is a gift card taken back?",
}
REPLIES = ["You have thirty days [1].", "Yes, within fourteen days [1].", "No, gift cards are never taken back [1]."]


class State(TypedDict):
    """What the graph keeps between its nodes: one channel a line."""

    question: str
    documents: list[Document]
    mine: list[Document]
    prompt: str
    answer: str


class Rules(BaseRetriever):
    """The two rules that share most words with the question."""

    def _get_relevant_documents(self, query: str, **_: object) -> list[Document]:
        asked = set(query.lower().strip("?").split())
        found = [Document(id=name, page_content=text, metadata={"shop": shop}) for name, (shop, text) in RULES.items()]
        return sorted(found, key=lambda each: -len(asked & set(each.page_content.lower().split())))[:2]


def build(model: BaseChatModel) -> StateGraph:
    """Retrieve → permit → assemble → draft."""

    def retrieve(state: State) -> dict[str, object]:
        return {"documents": Rules().invoke(state["question"])}

    def permit(state: State) -> dict[str, object]:
        return {"mine": [each for each in state["documents"] if each.metadata["shop"] == "acme"]}

    def assemble(state: State) -> dict[str, object]:
        return {"prompt": "\n\n".join([*(each.page_content for each in state["mine"]), state["question"]])}

    def draft(state: State) -> dict[str, object]:
        return {"answer": model.invoke(state["prompt"]).text}

    graph = StateGraph(State)
    graph.add_sequence([retrieve, permit, assemble, draft])
    graph.add_edge(START, "retrieve")
    graph.add_edge("draft", END)
    return graph


def scripted() -> GenericFakeChatModel:
    """Says its replies in turn, and with each, as a provider does, which model wrote it with how many tokens."""
    said = {"model_name": "gpt-5-mini", "model_provider": "openai", "finish_reason": "stop"}
    used = {"input_tokens": 31, "output_tokens": 8, "total_tokens": 39}
    messages = [AIMessage(reply, response_metadata=said, usage_metadata=used) for reply in REPLIES]
    return GenericFakeChatModel(messages=iter(messages))


def main(file: str = "checkpoints.db", callbacks: list[BaseCallbackHandler] | None = None) -> None:
    """Answer every question in a thread of its own; the thread is named after the case."""
    with SqliteSaver.from_conn_string(file) as saver:
        app = build(scripted()).compile(checkpointer=saver)
        for case, question in QUESTIONS.items():
            app.invoke({"question": question}, {"configurable": {"thread_id": case}, "callbacks": callbacks})


if __name__ == "__main__":
    main()
