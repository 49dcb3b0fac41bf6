"""A model's run as a Generation, with the context found in its prompt."""

from __future__ import annotations

from dataclasses import replace

from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatGeneration, LLMResult

from rag_probe import attributes as a
from rag_probe.attributes import Value
from rag_probe.stages import Content, Generation
from rag_probe.wire import encode
from rag_probe_langchain.builder import record_builders
from rag_probe_langchain.context import Seen, assemble
from rag_probe_langchain.marks import ROLE, text_of
from rag_probe_langchain.messages import input_messages, output_messages
from rag_probe_langchain.request import Made
from rag_probe_langchain.run import Prompt, Run
from rag_probe_langchain.seam import prompt_text, usage_of


def generation_ended(run: Run, response: LLMResult | None) -> dict[str, Value]:
    """Note what the model saw and wrote, and say it; a call that failed may come with a part of its output, or none."""
    request = run.request
    prompt = run.inputs if isinstance(run.inputs, Prompt) else Prompt((), None)
    text = prompt_text(prompt.messages)
    seen = assemble(text, prompt.last, request) if len(request.documents) else None
    message, output = _first(response)
    if seen is not None:
        record_builders(request, text, seen)
    request.joining = False
    if run.retriever is None and output is not None:
        request.made.append(Made(output, None if seen is None else seen.stage.ids, message))
    return _attributes(run, prompt, text, seen, message, output)


def _attributes(
    run: Run, prompt: Prompt, text: str, seen: Seen | None, message: BaseMessage | None, output: str | None
) -> dict[str, Value]:
    policy = run.request.options.policy
    usage = usage_of(message)
    stage = Generation(
        operation=run.operation,
        role=text_of(run.metadata, ROLE),
        model=run.model,
        provider=text_of(run.metadata, "ls_provider"),
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cached_tokens=usage.cached_tokens,
        cache_write_tokens=usage.cache_write_tokens,
        reasoning_tokens=usage.reasoning_tokens,
        prompt=replace(policy.content_of(text), text=input_messages(prompt.messages, policy)),
        output=None if output is None else _output(run, message, output),
        context=None if seen is None else seen.stage,
    )
    attributes = encode(stage, policy.max_items)
    if seen is None and len(run.request.documents):
        attributes[a.NOT_CAPTURED] = ("context",)
    return attributes


def _output(run: Run, message: BaseMessage | None, output: str) -> Content:
    policy = run.request.options.policy
    return replace(policy.content_of(output), text=output_messages(message, output, policy))


def _first(response: LLMResult | None) -> tuple[BaseMessage | None, str | None]:
    """The message and the text of the first generation."""
    if response is None or not response.generations or not response.generations[0]:
        return None, None
    first = response.generations[0][0]
    return (first.message if isinstance(first, ChatGeneration) else None), first.text
