"""What a model call brought back, all of it: text, tokens, why it stopped, and whether the cache answered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple, cast

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, LLMResult

from rag_probe_langchain.reading.loose import LARGEST
from rag_probe_langchain.reading.response import LONGEST, MODELS, REASONS, cache_hit_of, finish_reasons_of, response_of
from rag_probe_langchain.reading.usage import UNKNOWN, Usage, usage_in

_REASON: Final = REASONS[0]
_MODEL: Final = MODELS[0]
_DICT: Final = {dict}
_COUNTS: Final = frozenset({"input_tokens", "output_tokens", "total_tokens"})
"""Of a message without details, and which LangChain's cache did not answer."""


class Facts(NamedTuple):
    """One model call's result. None: not known."""

    message: BaseMessage | None
    text: str | None
    model: str | None
    finish_reasons: tuple[str, ...]
    """One for each alternative."""
    cache_hit: bool | None
    usage: Usage


NO_FACTS: Final = Facts(None, None, None, (), None, UNKNOWN)


def facts_of(result: LLMResult | None) -> Facts:
    """What is known of the first generation of a result."""
    if result is None:
        return NO_FACTS
    return _usual(result) or _searched(result)


def _usual(result: LLMResult) -> Facts | None:
    """Of one message that says everything where most integrations do, in one frame: the code around a call is cold.

    None says nothing but that it has to be searched for.
    """
    first = result.generations[0][0] if result.generations and len(result.generations[0]) == 1 else None
    message = first.message if isinstance(first, ChatGeneration) else None
    if first is None or not isinstance(message, AIMessage):
        return None
    metadata = cast("Mapping[str, object]", message.response_metadata)
    usage = cast("Mapping[str, object]", message.usage_metadata)
    if {type(metadata), type(usage)} != _DICT or not usage.keys() <= _COUNTS:
        return None
    reason, model = metadata.get(_REASON), metadata.get(_MODEL)
    given, written = usage.get("input_tokens"), usage.get("output_tokens")
    if type(reason) is not str or type(model) is not str or not reason.strip() or not model.strip():
        return None
    if type(given) is not int or type(written) is not int or not 0 < given <= LARGEST or not 0 <= written <= LARGEST:
        return None
    hit = None if message.id is None else False
    counted = Usage(input_tokens=given, output_tokens=written)
    return Facts(message, first.text, model[:LONGEST], (reason[:LONGEST],), hit, counted)


def _searched(result: LLMResult) -> Facts:
    """Wherever any integration says it."""
    parts = response_of(result)
    text = result.generations[0][0].text if result.generations and result.generations[0] else None
    return Facts(parts.message, text, parts.model, finish_reasons_of(result), cache_hit_of(result), usage_in(parts))
