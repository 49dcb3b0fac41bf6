"""Small real apps: LangChain's own classes, and a chat model that says what it is told to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from pydantic import ConfigDict

TEXTS = {
    "returns": "Goods can be sent back within thirty days of delivery, unused and in their box.",
    "sale": "Articles bought in the sale can be sent back within fourteen days only.",
    "gift": "Gift cards are never taken back, whatever the reason may be.",
    "staff": "Staff purchases are handled by the people team on the second floor.",
    "old": "Goods can be sent back within sixty days of delivery, by the rules of last year.",
}


def passages(*names: str) -> list[Document]:
    """Those passages, or all of them."""
    return [
        Document(
            id=name,
            page_content=TEXTS[name],
            metadata={"document": f"{name}.md", "revision": 2, "tenant": "store", "score": 1 - place / 10},
        )
        for place, name in enumerate(names or TEXTS)
    ]


class Search(BaseRetriever):
    """Returns what it holds, or raises."""

    found: list[Document]
    error: BaseException | None = None

    model_config = ConfigDict(arbitrary_types_allowed=True)

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        if self.error is not None:
            raise self.error
        return list(self.found)


class Nested(BaseRetriever):
    """Asks another retriever and returns the first few."""

    inner: BaseRetriever
    k: int = 2

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        return self.inner.invoke(query, config={"callbacks": run_manager.get_child()})[: self.k]


class Scripted(BaseChatModel):
    """Answers in turn, with usage; raises an answer that is an exception."""

    answers: list[Any]
    turn: int = 0

    model_config = ConfigDict(arbitrary_types_allowed=True)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _get_ls_params(self, stop: list[str] | None = None, **kwargs: Any) -> Any:
        return {"ls_provider": "openai", "ls_model_name": "scripted-1", "ls_model_type": "chat"}

    def _next(self) -> str:
        answer = self.answers[min(self.turn, len(self.answers) - 1)]
        self.turn += 1
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        message = AIMessage(
            self._next(),
            usage_metadata={"input_tokens": 70, "output_tokens": 9, "total_tokens": 79},
            response_metadata={"finish_reason": "stop", "model_name": "scripted-1-0101", "model_provider": "openai"},
        )
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        words = self._next().split(" ")
        for place, text in enumerate(words):
            last = place == len(words) - 1
            yield ChatGenerationChunk(
                message=AIMessageChunk(
                    text if last else text + " ",
                    usage_metadata={"input_tokens": 70, "output_tokens": 9, "total_tokens": 79} if last else None,
                    response_metadata={"finish_reason": "stop", "model_name": "scripted-1-0101"} if last else {},
                )
            )


ANSWER = "Thirty days, but fourteen in the sale [2]."


def not_old(found: list[Document]) -> list[Document]:
    return [each for each in found if each.id != "old"]


def allowed(found: list[Document]) -> list[Document]:
    return [each for each in found if each.id != "staff"]


def as_text(found: list[Document]) -> str:
    return "\n\n".join(each.page_content for each in found)


PROMPT = ChatPromptTemplate.from_messages([("system", "Answer from:\n{context}"), ("human", "{question}")])


def rag(search: Any = None, model: Any = None, steps: Any = None) -> Any:
    """retrieve, filter, check permissions, build the context, ask, parse."""
    search = search or Search(found=passages())
    marked = RunnableLambda(allowed).with_config(metadata={"rag.stage": "permission"})
    context = search | (steps or RunnableLambda(not_old) | marked) | as_text
    chain = (
        {"context": context, "question": RunnablePassthrough()}
        | PROMPT
        | (model or Scripted(answers=[ANSWER]))
        | StrOutputParser()
    )
    return chain.with_config(run_name="returns desk")
