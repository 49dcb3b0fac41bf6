"""A chat model that needs no key: it answers from a script, else from the passages in its prompt."""

# ruff: noqa: ANN401, ARG002 - the signatures are LangChain's

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final, cast

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LangSmithParams
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult

from rag_probe_demo.corpus import DATA
from rag_probe_demo.prompts import NO_ANSWER, REFUSED

_PASSAGE: Final = re.compile(r"^\[([^\]\s]+)\] (.+)$", re.MULTILINE)
_QUESTION: Final = re.compile(r"^Question: (.+)$", re.MULTILINE)
_SENTENCE: Final = re.compile(r"(?<=[.!?]) +")
_WORD: Final = re.compile(r"\w{3,}")
_COMMON: Final = frozenset(
    "after and any are can does for from have how its many may not our that the their they this was what when which "  # noqa: SIM905 - reads better
    "who whom will with you your".split()
)


class ScriptedChatModel(BaseChatModel):
    """Replies by question and attempt; priced as a small hosted model, so that a report shows costs."""

    script: Mapping[str, Sequence[str]]
    """Question → the reply to the first draft, the second, …; the last one stays."""
    model: str = "gpt-4.1-mini"

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _get_ls_params(self, stop: list[str] | None = None, **kwargs: Any) -> LangSmithParams:
        return LangSmithParams(ls_provider="openai", ls_model_name=self.model, ls_model_type="chat")

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        text = self._reply(messages)
        metadata = {"model_name": self.model, "finish_reason": "stop"}
        message = AIMessage(text, usage_metadata=_usage(messages, text), response_metadata=metadata)
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        text = self._reply(messages)
        for word in re.findall(r"\S+\s*", text):
            chunk = ChatGenerationChunk(message=AIMessageChunk(content=word))
            if run_manager is not None:
                run_manager.on_llm_new_token(word, chunk=chunk)
            yield chunk
        metadata = {"model_name": self.model, "finish_reason": "stop"}
        yield ChatGenerationChunk(
            message=AIMessageChunk(content="", usage_metadata=_usage(messages, text), response_metadata=metadata)
        )

    def _reply(self, messages: Sequence[BaseMessage]) -> str:
        prompt = "\n".join(message.text for message in messages)
        question = _QUESTION.findall(prompt)[-1]
        replies = self.script.get(question)
        if replies:
            return replies[min(prompt.count(REFUSED), len(replies) - 1)]
        return best_sentence(question, _PASSAGE.findall(prompt))


def best_sentence(question: str, passages: Sequence[tuple[str, str]]) -> str:
    """The sentence (no title) that shares most words with the question, at least two, and its citation."""
    asked = _content_words(question)
    sentences = [(sentence, name) for name, text in passages for sentence in _SENTENCE.split(text)[1:]]
    best = max(sentences, key=lambda pair: len(asked & _content_words(pair[0])), default=("", ""))
    if len(asked & _content_words(best[0])) < 2:
        return NO_ANSWER
    return f"{best[0].rstrip('.')} [{best[1]}]."


@cache
def load_script() -> Mapping[str, Sequence[str]]:
    """The shipped replies."""
    return cast("Mapping[str, Sequence[str]]", json.loads((DATA / "script.json").read_text(encoding="utf-8")))


def _content_words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower())) - _COMMON


def _usage(messages: Sequence[BaseMessage], reply: str) -> UsageMetadata:
    """Four characters a token, rounded up: stable on every machine."""
    read = sum(-(-len(message.text) // 4) for message in messages)
    written = -(-len(reply) // 4)
    return UsageMetadata(input_tokens=read, output_tokens=written, total_tokens=read + written)
