"""Generation and ToolCall as attributes: the GenAI conventions' names, and ours for what they lack."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from operator import attrgetter
from typing import Any, Final, TypeVar

from rag_probe import attributes as a
from rag_probe.attributes import Attributes, Value
from rag_probe.stages import Generation, ToolCall
from rag_probe.wire.columns import get, get_list, put_column, put_counts, put_known
from rag_probe.wire.content import Names, get_content, put_content
from rag_probe.wire.context import decode_context, put_context

K = TypeVar("K", str, int)

_PROMPT: Final = Names(a.PROMPT_LENGTH, a.PROMPT_DIGEST, a.INPUT_MESSAGES)
_OUTPUT: Final = Names(a.OUTPUT_LENGTH, a.OUTPUT_DIGEST, a.OUTPUT_MESSAGES)
_CALL: Final[Callable[[Generation], tuple[Any, ...]]] = attrgetter(
    "operation", "provider", "model", "response_model", "finish_reasons", "role"
)
_COUNT_NAMES: Final = (
    a.INPUT_TOKENS,
    a.OUTPUT_TOKENS,
    a.CACHE_READ_TOKENS,
    a.CACHE_WRITE_TOKENS,
    a.REASONING_TOKENS,
    a.GENERATION_CACHE_HIT,
)
_COUNTS: Final = attrgetter(
    "input_tokens", "output_tokens", "cached_tokens", "cache_write_tokens", "reasoning_tokens", "cache_hit"
)

_OLDER: Final = {
    a.PROVIDER: "gen_ai.system",
    a.INPUT_TOKENS: "gen_ai.usage.prompt_tokens",
    a.OUTPUT_TOKENS: "gen_ai.usage.completion_tokens",
    a.CACHE_WRITE_TOKENS: "gen_ai.usage.cache_creation.input_tokens",
}
"""What earlier versions of the conventions called the same thing: still on the wire."""


def encode_generation(stage: Generation, cap: int) -> dict[str, Value]:
    """One model call together with the context found in its prompt."""
    out = dict(_call(*_CALL(stage)))
    if stage.context is not None:
        put_context(out, stage.context, cap)
    put_counts(out, _COUNT_NAMES, _COUNTS(stage))
    put_content(out, _PROMPT, stage.prompt)
    put_content(out, _OUTPUT, stage.output)
    return out


@lru_cache(maxsize=256)
def _call(
    operation: str,
    provider: str | None,
    model: str | None,
    response_model: str | None,
    finish_reasons: tuple[str, ...],
    role: str | None,
) -> Mapping[str, Value]:
    """What an app's calls have in common, of which it makes a few kinds: remembered, since none of it is content."""
    out: dict[str, Value] = {a.OPERATION: operation, a.STAGE: "generation"}
    put_known(out, (a.PROVIDER, provider), (a.REQUEST_MODEL, model), (a.RESPONSE_MODEL, response_model))
    put_column(out, a.FINISH_REASONS, finish_reasons)
    put_known(out, (a.GENERATION_ROLE, role))
    return out


def decode_generation(attributes: Attributes) -> Generation:
    """The inverse of `encode_generation`; older names of the conventions are read too."""
    return Generation(
        operation=get(attributes, a.OPERATION, str) or "chat",
        role=get(attributes, a.GENERATION_ROLE, str),
        model=get(attributes, a.REQUEST_MODEL, str),
        response_model=get(attributes, a.RESPONSE_MODEL, str),
        provider=_either(attributes, a.PROVIDER, str),
        input_tokens=_either(attributes, a.INPUT_TOKENS, int),
        output_tokens=_either(attributes, a.OUTPUT_TOKENS, int),
        cached_tokens=get(attributes, a.CACHE_READ_TOKENS, int),
        cache_write_tokens=_either(attributes, a.CACHE_WRITE_TOKENS, int),
        reasoning_tokens=get(attributes, a.REASONING_TOKENS, int),
        finish_reasons=get_list(attributes, a.FINISH_REASONS, str) or (),
        cache_hit=get(attributes, a.GENERATION_CACHE_HIT, bool),
        prompt=get_content(attributes, _PROMPT),
        output=get_content(attributes, _OUTPUT),
        context=decode_context(attributes),
    )


def encode_tool(stage: ToolCall, cap: int) -> dict[str, Value]:  # noqa: ARG001  # one signature for every stage
    """A tool's name and the id of the call that asked for it."""
    out: dict[str, Value] = {a.OPERATION: "execute_tool", a.STAGE: "tool"}
    put_known(
        out,
        (a.TOOL_NAME, stage.name),
        (a.TOOL_CALL_ID, stage.call_id),
    )
    return out


def decode_tool(attributes: Attributes) -> ToolCall:
    """The inverse of `encode_tool`."""
    return ToolCall(name=get(attributes, a.TOOL_NAME, str), call_id=get(attributes, a.TOOL_CALL_ID, str))


def _either(attributes: Attributes, name: str, kind: type[K]) -> K | None:
    value = get(attributes, name, kind)
    return get(attributes, _OLDER[name], kind) if value is None else value
