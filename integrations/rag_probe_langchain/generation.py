"""A model's run as a Generation, with the context found in its prompt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatGeneration, LLMResult

from rag_probe import attributes as a
from rag_probe.attributes import Value
from rag_probe.stages import Content, ContextAssembly, Generation
from rag_probe.wire import encode
from rag_probe_langchain.builder import record_builders
from rag_probe_langchain.calibration import calibrated
from rag_probe_langchain.context import assemble
from rag_probe_langchain.known import known_to
from rag_probe_langchain.marks import ROLE, text_of
from rag_probe_langchain.reading.messages import input_messages, output_messages
from rag_probe_langchain.reading.prompt_text import LONGEST_TEXT, prompt_text
from rag_probe_langchain.reading.providers import provider_of
from rag_probe_langchain.reading.response import (
    Response,
    cache_hit_of,
    finish_reasons_of,
    response_model_of,
    response_of,
)
from rag_probe_langchain.reading.usage import Usage, usage_of
from rag_probe_langchain.request import Made
from rag_probe_langchain.run import Prompt, Run
from rag_probe_langchain.tokens import Tokenizer


def generation_ended(run: Run, outputs: object, _ended: int) -> dict[str, Value]:
    """Note what the model saw and wrote, and say it; a call that failed may come with a part of its output, or none."""
    request = run.request
    response = outputs if isinstance(outputs, LLMResult) else None
    prompt = run.inputs if isinstance(run.inputs, Prompt) else Prompt((), None)
    text = _text(prompt.messages)
    retrieved = request.documents.any or prompt.last is not None
    parts = response_of(response)
    usage = usage_of(parts)
    seen = assemble(text, prompt.last, request, _tokenizer(run, prompt, text, usage)) if retrieved else None
    message, output = _first(response)
    context = None if seen is None else seen.stage
    if run.retriever is None:
        known_to(run, request).joining = False
    if context is not None and output is not None:
        request.documents.wrote(output, context.ids)
    if run.retriever is None and output is not None:
        request.add_made(Made(output, None if context is None else context.ids, message))
    written = None if output is None else _written(run, message, output)
    stage = _generation(run, response, parts, usage, _asked(run, prompt, text), written, context)
    attributes = encode(stage, request.options.policy.max_items)
    if seen is not None:
        record_builders(request, text, seen, attributes)
    elif retrieved:
        attributes[a.NOT_CAPTURED] = ("context",)
    return attributes


def _tokenizer(run: Run, prompt: Prompt, text: str, usage: Usage) -> Tokenizer:
    tokenizer = run.request.options.tokenizer
    if run.call is None or run.call.more:
        return tokenizer
    return calibrated(tokenizer, prompt.messages, text, usage.input_tokens)


def _generation(
    run: Run,
    response: LLMResult | None,
    parts: Response,
    usage: Usage,
    asked: Content,
    written: Content | None,
    context: ContextAssembly | None,
) -> Generation:
    return Generation(
        operation=run.call.operation if run.call is not None else "chat",
        role=text_of(run.metadata, ROLE),
        model=run.call.model if run.call is not None else None,
        response_model=response_model_of(parts),
        provider=provider_of(run.metadata, parts),
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cached_tokens=usage.cached_tokens,
        cache_write_tokens=usage.cache_write_tokens,
        reasoning_tokens=usage.reasoning_tokens,
        finish_reasons=finish_reasons_of(parts if _is_only_one(response) else response),
        cache_hit=None if response is None else cache_hit_of(response if parts.message is None else parts),
        prompt=asked,
        output=written,
        context=context,
    )


def _is_only_one(response: LLMResult | None) -> bool:
    return response is not None and bool(response.generations) and len(response.generations[0]) == 1


def _text(messages: Sequence[BaseMessage] | str) -> str:
    """What `prompt_text` says, without its look into blocks where there are none."""
    if isinstance(messages, str):
        return prompt_text(messages)
    contents = [message.content for message in messages]
    if set(map(type, contents)) <= {str}:
        return "\n\n".join(contents)[:LONGEST_TEXT]  # pyright: ignore - just checked
    return prompt_text(messages)


def _asked(run: Run, prompt: Prompt, text: str) -> Content:
    policy = run.request.options.policy
    content = policy.content_of(text)
    return replace(content, text=input_messages(prompt.messages, policy)) if policy.content else content


def _written(run: Run, message: BaseMessage | None, output: str) -> Content:
    policy = run.request.options.policy
    content = policy.content_of(output)
    return replace(content, text=output_messages(message, output, policy)) if policy.content else content


def _first(response: LLMResult | None) -> tuple[BaseMessage | None, str | None]:
    """The message and the text of the first generation."""
    if response is None or not response.generations or not response.generations[0]:
        return None, None
    first = response.generations[0][0]
    return (first.message if isinstance(first, ChatGeneration) else None), first.text
