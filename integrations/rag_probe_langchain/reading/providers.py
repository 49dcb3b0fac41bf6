"""Names of model providers in the GenAI conventions (`gen_ai.provider.name`, conventions v0.1.0)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from rag_probe_langchain.reading.response import response_of

_NAMES: Final = {
    "openai": "openai",
    "openai-codex": "openai",
    "azure": "azure.ai.openai",
    "azure_openai": "azure.ai.openai",
    "azure_ai": "azure.ai.inference",
    "azure_ai_inference": "azure.ai.inference",
    "anthropic": "anthropic",
    "amazon_bedrock": "aws.bedrock",
    "bedrock": "aws.bedrock",
    "bedrock_converse": "aws.bedrock",
    "anthropic-bedrock": "aws.bedrock",
    "anthropic-mantle": "aws.bedrock",
    "openai-mantle": "aws.bedrock",
    "google_genai": "gcp.gemini",
    "google_vertexai": "gcp.vertex_ai",
    "vertexai": "gcp.vertex_ai",
    "google_anthropic_vertex": "gcp.vertex_ai",
    "cohere": "cohere",
    "mistral": "mistral_ai",
    "mistralai": "mistral_ai",
    "groq": "groq",
    "deepseek": "deepseek",
    "xai": "x_ai",
    "perplexity": "perplexity",
    "ibm": "ibm.watsonx.ai",
    "watsonx": "ibm.watsonx.ai",
}
"""LangChain's `ls_provider` and `model_provider` (their integrations as of 2025) to the conventions' names."""

_KNOWN: Final = frozenset(_NAMES.values())
_LONGEST: Final = 100


@lru_cache(maxsize=256)
def provider_name(name: str) -> str:
    """The conventions' name for LangChain's; a provider they have no name for keeps its own, in lower case."""
    lowered = name.strip().lower()
    return _NAMES.get(lowered, lowered[:_LONGEST])


def provider_of(metadata: Mapping[str, object], result: object = None) -> str | None:
    """Who ran the model: the run's `ls_provider`, else the response's `model_provider`. None when neither says.

    A model's class without a provider of its own puts its own name there: a name that is known goes before one that is
    not.
    """
    name = _name(metadata.get("ls_provider"))
    if name in _KNOWN:
        return name
    other = _name(response_of(result).metadata.get("model_provider"))
    return other if name is None or other in _KNOWN else name


def _name(said: object) -> str | None:
    return provider_name(said) if isinstance(said, str) and said.strip() else None
