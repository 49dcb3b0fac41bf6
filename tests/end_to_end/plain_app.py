"""An app that has no line of ours: a chain and a graph, whose retriever asks a database and whose tool logs."""

from __future__ import annotations

import sqlite3
from typing import Any

from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda
from opentelemetry import trace

from tests.rag_probe_langchain.apps import Search, passages, rag
from tests.rag_probe_langgraph.graphs import checked

QUESTION = "How long may I keep it?"
_tracer = trace.get_tracer("database")


class Database(Search):
    """Asks SQLite, as an instrumented client would."""

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        with _tracer.start_as_current_span("SELECT"):
            assert sqlite3.connect(":memory:").execute("SELECT 1").fetchone() == (1,)
        return super()._get_relevant_documents(query, run_manager=run_manager)


def main() -> None:
    print(rag(Database(found=passages())).invoke(QUESTION))
    graph = checked().invoke({"question": QUESTION})
    print(graph["answer"])
    print(RunnableLambda(lambda _: trace.get_current_span().get_span_context().is_valid).invoke(1))


if __name__ == "__main__":
    main()
