"""The three apps whose requests are measured: real LangChain and LangGraph, and a model that answers at once."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import count as counted
from typing import Any, Final, TypedDict

from langchain_core.callbacks import CallbackManagerForLLMRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from langgraph.graph import END, START, StateGraph

Run: Any = Callable[[list[Any]], object]
"""Answers one question under the callbacks given."""

_WORDS: Final = [
    "".join(random.Random(place).choices("abcdefghijklmnopqrstuvwxyz", k=3 + place % 8)) for place in range(2000)
]


_CORPORA: Final = 64
"""Question after question finds other passages: nothing is recognised from the last request."""


def passages(count: int, corpus: int) -> list[Document]:
    """Passages of some 480 characters, each with an id, a tenant, a revision and a score."""
    choose = random.Random(count + 1000 * corpus)
    return [
        Document(
            id=f"doc-{corpus:02d}{place:02d}#{place % 7}",
            page_content=" ".join(choose.choices(_WORDS, k=70)),
            metadata={
                "source": f"doc-{corpus:02d}{place:02d}.md",
                "tenant": "acme",
                "revision": 3,
                "score": 1 - (place + corpus / 100) / 1000,
            },
        )
        for place in range(count)
    ]


_number: Final = counted()


def question() -> str:
    """Never the same."""
    return f"How long do I have, in order {next(_number):07d}?"


def _corpus_of(question: str) -> int:
    return int(question[-8:-1]) % _CORPORA


class Search(BaseRetriever):
    """Returns a new list of the passages of the question's corpus."""

    corpora: list[list[Document]]

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        return list(self.corpora[_corpus_of(query)])


def search(count: int) -> Search:
    """A search that finds so many passages."""
    return Search(corpora=[passages(count, corpus) for corpus in range(_CORPORA)])


class Model(BaseChatModel):
    """Answers at once, with usage, and cites a passage by its id."""

    @property
    def _llm_type(self) -> str:
        return "at-once"

    def _get_ls_params(self, stop: list[str] | None = None, **kwargs: Any) -> Any:
        return {"ls_provider": "openai", "ls_model_name": "at-once-1", "ls_model_type": "chat"}

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        cited = f"doc-{_corpus_of(messages[-1].text):02d}01#1"
        message = AIMessage(
            ANSWER.format(cited=cited),
            usage_metadata={"input_tokens": 700, "output_tokens": 40, "total_tokens": 740},
            response_metadata={"finish_reason": "stop", "model_name": "at-once-1"},
        )
        return ChatResult(generations=[ChatGeneration(message=message)])


ANSWER: Final = (
    "Within thirty days of delivery [1], in the sale within fourteen [3]. Gift cards are excluded [{cited}]."
)
PROMPT: Final = ChatPromptTemplate.from_messages(
    [("system", "Answer from the passages and cite them."), ("human", "{context}\n\nQuestion: {question}")]
)


def as_text(found: list[Document]) -> str:
    """The passages, numbered."""
    return "\n\n".join(f"[{place}] {each.page_content}" for place, each in enumerate(found, 1))


def chain(count: int) -> Any:
    """Retrieve `count`, drop every fifth, build the context, ask."""
    kept = RunnableLambda(lambda found: [each for place, each in enumerate(found) if place % 5 != 4])
    context = search(count) | kept | as_text
    app = (
        RunnablePassthrough.assign(context=(lambda state: state["question"]) | context)
        | PROMPT
        | Model()
        | StrOutputParser()
    )
    return lambda callbacks: app.invoke({"question": question()}, {"callbacks": callbacks})


class State(TypedDict, total=False):
    """What flows through the graph."""

    question: str
    passages: list[Document]
    draft: str
    answer: str


def graph() -> Any:
    """retrieve → filter → draft → validate, over five passages."""
    index, model = search(5), Model()
    nodes: dict[str, Any] = {
        "retrieve": lambda state: {"passages": index.invoke(state["question"])},
        "filter": lambda state: {"passages": state["passages"][:4]},
        "draft": lambda state: {
            "draft": model.invoke(
                PROMPT.format_messages(context=as_text(state["passages"]), question=state["question"])
            ).text
        },
        "validate": lambda state: {"answer": state["draft"]},
    }
    built = StateGraph(State)
    for name, body in nodes.items():
        built.add_node(name, body)
    for one, other in zip([START, *nodes], [*nodes, END], strict=True):
        built.add_edge(one, other)
    app = built.compile()
    return lambda callbacks: app.invoke({"question": question()}, {"callbacks": callbacks})


APPS: Final[dict[str, Callable[[], Any]]] = {
    "5 passages": lambda: chain(5),
    "50 passages": lambda: chain(50),
    "graph of 4 nodes": graph,
}
