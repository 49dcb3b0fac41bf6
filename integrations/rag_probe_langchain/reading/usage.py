"""Tokens of a model call as billed, from whatever the integration reports. Unknown is None, never 0.

`usage_metadata` of the message comes first: LangChain's own form, in which input includes cached tokens and output
includes reasoning. Else raw figures of the provider, from the result's `llm_output` and the message's metadata, some of
which count cached or reasoning tokens *beside* input and output; they are added then.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from rag_probe.values import value
from rag_probe_langchain.reading.loose import count_of, first_count, mapping_of, sum_counts
from rag_probe_langchain.reading.response import Response, response_of

_INPUT: Final = ("input_tokens", "prompt_tokens", "prompt_token_count", "inputTokens", "prompt_eval_count")
_OUTPUT: Final = ("output_tokens", "completion_tokens", "candidates_token_count", "outputTokens", "eval_count")
_CACHED: Final = ("cached_content_token_count", "prompt_cache_hit_tokens")
_CACHED_BESIDE: Final = ("cache_read_input_tokens", "cacheReadInputTokens")
_WRITTEN_BESIDE: Final = ("cache_creation_input_tokens", "cacheWriteInputTokens")
_REASONING_BESIDE: Final = ("thoughts_token_count",)
_INPUT_DETAILS: Final = ("prompt_tokens_details", "input_tokens_details")
_OUTPUT_DETAILS: Final = ("completion_tokens_details", "output_tokens_details")
_CACHE_READ: Final = ("cache_read", "priority_cache_read", "flex_cache_read")
_CACHE_WRITE: Final = ("cache_creation", "priority_cache_creation", "flex_cache_creation")
_REASONING: Final = ("reasoning", "priority_reasoning", "flex_reasoning")
_TOTAL: Final = ("total_tokens", "total_token_count", "totalTokens")
_CACHED_IN: Final = ("cached_tokens",)
_WRITTEN_IN: Final = ("cache_write_tokens",)
_REASONING_IN: Final = ("reasoning_tokens", "thinking_tokens")
_LIFETIMES: Final = ("ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens")
_RAW: Final = ("token_usage", "usage", "usage_metadata", "token_count")
_TOP_LEVEL: Final = ("prompt_eval_count", "eval_count")


@value
class Usage:
    """Tokens of one model call. None: not known."""

    input_tokens: int | None = None
    """Includes cached and cache-written ones."""
    output_tokens: int | None = None
    """Includes reasoning ones."""
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None


UNKNOWN: Final = Usage()


def usage_of(result: object) -> Usage:
    """The usage of an `LLMResult` (its first generation) or of a message; all unknown when it says nothing.

    Counts that are no whole, non-negative numbers are unknown. A call without any input token was not counted.
    """
    return usage_in(response_of(result))


def usage_in(response: Response) -> Usage:
    """The same for one generation."""
    standard = mapping_of(getattr(response.message, "usage_metadata", None))
    usage = _standard(standard) if standard else UNKNOWN
    if usage is not UNKNOWN:
        return usage
    for values in _raw_reports(response):
        usage = _raw(values)
        if usage is not UNKNOWN:
            break
    return usage


def _raw_reports(response: Response) -> Iterator[Mapping[object, object]]:
    kwargs = mapping_of(getattr(response.message, "additional_kwargs", None))
    for place in (response.output, response.metadata, response.info, kwargs):
        for key in _RAW:
            yield mapping_of(place.get(key))
        if any(key in place for key in _TOP_LEVEL):
            yield place


def _standard(values: Mapping[object, object]) -> Usage:
    given, output = count_of(values.get("input_tokens")), count_of(values.get("output_tokens"))
    into, out_of = values.get("input_token_details"), values.get("output_token_details")
    if into is None and out_of is None:
        return Usage(input_tokens=given, output_tokens=output) if given else _usage(None, output, None)
    into, out_of = mapping_of(into), mapping_of(out_of)
    return _usage(
        given,
        output,
        count_of(values.get("total_tokens")),
        cached=sum_counts(into, _CACHE_READ),
        # Integrations that know the lifetimes of what was written set the plain figure to 0.
        written=sum_counts(into, _CACHE_WRITE) or sum_counts(into, _LIFETIMES) or sum_counts(into, _CACHE_WRITE),
        reasoning=sum_counts(out_of, _REASONING),
    )


def _raw(values: Mapping[object, object]) -> Usage:
    into = mapping_of(next((values[key] for key in _INPUT_DETAILS if key in values), None))
    out_of = mapping_of(next((values[key] for key in _OUTPUT_DETAILS if key in values), None))
    given, output = first_count(values, _INPUT), first_count(values, _OUTPUT)
    cached, written = first_count(values, _CACHED_BESIDE), first_count(values, _WRITTEN_BESIDE)
    thoughts = first_count(values, _REASONING_BESIDE)
    return _usage(
        None if given is None else given + (cached or 0) + (written or 0),
        None if output is None else output + (thoughts or 0),
        first_count(values, _TOTAL),
        cached=cached if cached is not None else _first(first_count(into, _CACHED_IN), first_count(values, _CACHED)),
        written=written if written is not None else first_count(into, _WRITTEN_IN),
        reasoning=thoughts if thoughts is not None else first_count(out_of, _REASONING_IN),
    )


def _usage(
    given: int | None,
    output: int | None,
    total: int | None,
    *,
    cached: int | None = None,
    written: int | None = None,
    reasoning: int | None = None,
) -> Usage:
    beside = (cached or 0) + (written or 0)
    if output is not None and reasoning:
        beside_output = total == (given or 0) + output + reasoning
        output += reasoning if reasoning > output or beside_output else 0
    if given is not None and beside > given:
        given += beside
    if not given:
        given, output = None, output or None
    if given is None and output is None:
        return UNKNOWN
    return Usage(
        input_tokens=given,
        output_tokens=output,
        cached_tokens=cached,
        cache_write_tokens=written,
        reasoning_tokens=reasoning,
    )


def _first(*counts: int | None) -> int | None:
    return next((count for count in counts if count is not None), None)
