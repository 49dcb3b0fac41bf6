"""Every metric that is written: its name, unit, buckets and attributes; `rag_probe.metering` measures.

The GenAI conventions' names (v0.1.0) wherever they exist, `rag.*` for what they lack. Attributes are few and of few
values: never an id, a tenant or a text.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple, TypeAlias

from rag_probe import attributes as a

Kind: TypeAlias = Literal["counter", "histogram"]

MODALITY: Final = "gen_ai.token.modality"
REASON: Final = "rag.reason"
POLICY: Final = a.PERMISSION_POLICY
TOKENIZER: Final = a.BUDGET_TOKENIZER
VALID: Final = "rag.citation.valid"


class Instrument(NamedTuple):
    """One metric."""

    name: str
    unit: str
    about: str
    attributes: tuple[str, ...]
    buckets: tuple[float, ...] = ()
    """Upper bounds; with them it is a histogram, without a counter."""

    @property
    def kind(self) -> Kind:
        """What it is created as."""
        return "histogram" if self.buckets else "counter"


_CALL: Final = (a.OPERATION, a.PROVIDER, a.REQUEST_MODEL, a.RESPONSE_MODEL)
_USAGE: Final = (*_CALL, MODALITY)
_SHORT: Final = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
_LONG: Final = (0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 102.4, 204.8, 409.6)

AGENT_DURATION: Final = Instrument(
    "gen_ai.invoke_agent.duration",
    "s",
    "one question, from the start of its workflow or agent to its end",
    (a.OPERATION, a.AGENT_NAME, a.ERROR_TYPE),
    _LONG,
)
INFERENCE_DURATION: Final = Instrument(
    "gen_ai.client.inference.duration",
    "s",
    "one model call; nothing when the framework's own cache answered",
    (*_CALL, a.ERROR_TYPE),
    _SHORT,
)
RETRIEVAL_DURATION: Final = Instrument(
    "gen_ai.retrieval.duration",
    "s",
    "one retrieval; one that asked others, and each of those",
    (a.OPERATION, a.ERROR_TYPE),
    _SHORT,
)
TOOL_DURATION: Final = Instrument(
    "gen_ai.execute_tool.duration", "s", "one call of a tool", (a.OPERATION, a.TOOL_NAME, a.ERROR_TYPE), _SHORT
)

INPUT_TOKENS: Final = Instrument(
    "gen_ai.client.inference.usage.input_tokens", "{token}", "input tokens as billed, cached ones included", _USAGE
)
OUTPUT_TOKENS: Final = Instrument(
    "gen_ai.client.inference.usage.output_tokens", "{token}", "output tokens as billed, reasoning included", _USAGE
)
CACHE_READ_TOKENS: Final = Instrument(
    "gen_ai.client.inference.usage.cache_read.input_tokens",
    "{token}",
    "of the input tokens, those read from the provider's cache",
    _USAGE,
)
CACHE_WRITE_TOKENS: Final = Instrument(
    "gen_ai.client.inference.usage.cache_write.input_tokens",
    "{token}",
    "of the input tokens, those written to the provider's cache",
    _USAGE,
)
REASONING_TOKENS: Final = Instrument(
    "gen_ai.client.inference.usage.reasoning.output_tokens",
    "{token}",
    "of the output tokens, those spent on reasoning",
    _USAGE,
)

RETRIEVED: Final = Instrument(
    "rag.chunks.retrieved", "{chunk}", "passages that retrievals returned; not those of retrievals inside others", ()
)
DROPPED: Final = Instrument(
    "rag.chunks.dropped",
    "{chunk}",
    "passages that a filter or a permission check did not let through, or that are not in a prompt",
    (a.STAGE, REASON),
)
DENIALS: Final = Instrument(
    "rag.permission.denials", "{decision}", "passages that a caller may not see", (POLICY, REASON)
)
TRUNCATIONS: Final = Instrument(
    "rag.context.truncations", "{chunk}", "passages of which a part is missing in a prompt", ()
)
CONTEXT_TOKENS: Final = Instrument(
    "rag.context.tokens", "{token}", "what the passages in prompts take, by the tokenizer named", (TOKENIZER,)
)
EXCEEDED: Final = Instrument(
    "rag.context.budget.exceeded", "{prompt}", "prompts whose passages take more than the budget told", (TOKENIZER,)
)
CITATIONS: Final = Instrument(
    "rag.citations",
    "{citation}",
    "citations of answers; valid ones point into the context that the model saw",
    (VALID,),
)
ANSWERS: Final = Instrument(
    "rag.answers", "{answer}", "questions that came to an end", (a.ANSWER_OUTCOME, a.AGENT_NAME)
)

INSTRUMENTS: Final = (
    AGENT_DURATION,
    INFERENCE_DURATION,
    RETRIEVAL_DURATION,
    TOOL_DURATION,
    INPUT_TOKENS,
    OUTPUT_TOKENS,
    CACHE_READ_TOKENS,
    CACHE_WRITE_TOKENS,
    REASONING_TOKENS,
    RETRIEVED,
    DROPPED,
    DENIALS,
    TRUNCATIONS,
    CONTEXT_TOKENS,
    EXCEEDED,
    CITATIONS,
    ANSWERS,
)
