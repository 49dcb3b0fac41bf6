"""What a model call brought back, beside its text: why it stopped, which model answered, whether the cache did."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Final, NamedTuple

from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatGeneration, Generation, LLMResult

from rag_probe_langchain.reading.loose import mapping_of

REASONS: Final = ("finish_reason", "stop_reason", "stopReason", "done_reason", "status")
MODELS: Final = ("model_name", "model", "model_id", "model_version")
LONGEST: Final = 200
"""Characters of a provider's word."""


class Response(NamedTuple):
    """One generation of a result, in its parts."""

    message: BaseMessage | None
    metadata: Mapping[object, object]
    """The message's `response_metadata`."""
    info: Mapping[object, object]
    """The generation's `generation_info`."""
    output: Mapping[object, object]
    """The result's `llm_output`."""

    @property
    def model(self) -> str | None:
        """The model that answered, as the provider names it."""
        return _named(MODELS, self.metadata, self.info, self.output)

    @property
    def finish_reason(self) -> str | None:
        """Why it stopped, in the provider's words."""
        return _named(REASONS, self.metadata, self.info)

    @property
    def cache_hit(self) -> bool | None:
        """What `cache_hit_of` says of a chat model's call."""
        if self.message is None:
            return None
        cost = mapping_of(getattr(self.message, "usage_metadata", None)).get("total_cost")
        if isinstance(cost, int) and cost == 0 and not self.output:
            return True
        return False if self.message.id is not None else None


def response_of(result: object) -> Response:
    """The first generation of an `LLMResult`, or a message; empty parts for anything else. Of itself, itself."""
    if isinstance(result, Response):
        return result
    if isinstance(result, LLMResult) and result.generations and result.generations[0]:
        return _of_generation(result.generations[0][0], mapping_of(result.llm_output))
    return next(_responses(result), Response(None, {}, {}, {}))


def finish_reasons_of(result: object) -> tuple[str, ...]:
    """Why each of the alternative generations stopped, in the provider's words; empty when it does not say."""
    reasons = [response.finish_reason for response in _responses(result)]
    return tuple([reason for reason in reasons if reason])


def response_model_of(result: object) -> str | None:
    """The model that answered, as the provider names it."""
    return response_of(result).model


def cache_hit_of(result: object) -> bool | None:
    """Whether LangChain answered from its own cache, so that nothing was billed. To be asked when the call ends.

    A hit on a chat model shows by `total_cost: 0`, which LangChain adds to `usage_metadata`, in a result without
    `llm_output` (langchain-core 1.8, `BaseChatModel._convert_cached_generations`). None when it cannot be told: for a
    message that was never given an id, which is what an old cache entry becomes. A hit on a string model makes no
    callback at all, so one that did was none.
    """
    response = response_of(result)
    return False if response.message is None and isinstance(result, LLMResult) else response.cache_hit


def _responses(result: object) -> Iterator[Response]:
    if isinstance(result, Response):
        yield result
    if isinstance(result, BaseMessage):
        yield Response(result, mapping_of(result.response_metadata), {}, {})
    if isinstance(result, LLMResult):
        output = mapping_of(result.llm_output)
        for generation in result.generations[0] if result.generations else ():
            yield _of_generation(generation, output)


def _of_generation(generation: Generation, output: Mapping[object, object]) -> Response:
    message = generation.message if isinstance(generation, ChatGeneration) else None
    metadata = mapping_of(getattr(message, "response_metadata", None))
    return Response(message, metadata, mapping_of(generation.generation_info), output)


def _named(keys: tuple[str, ...], *places: Mapping[object, object]) -> str | None:
    for place in places:
        for key in keys:
            value = place.get(key)
            if type(value) is not str and isinstance(value, Enum):
                value = value.name
            if isinstance(value, str) and value.strip():
                return value[:LONGEST]
    return None
