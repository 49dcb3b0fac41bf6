"""A model's run as a Generation, with the context found in its prompt."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from langchain_core.messages import BaseMessage
from langchain_core.outputs import LLMResult

from rag_probe import attributes as a
from rag_probe.attributes import Value
from rag_probe.policy import CapturePolicy
from rag_probe.stages import ContextAssembly, Generation
from rag_probe.wire.generation import encode_generation
from rag_probe_langchain.builder import record_builders
from rag_probe_langchain.calibration import calibrated
from rag_probe_langchain.context import assemble
from rag_probe_langchain.earlier import is_echo, reduced, with_earlier
from rag_probe_langchain.known import known_to
from rag_probe_langchain.marks import ROLE, text_of
from rag_probe_langchain.reading.facts import Facts, facts_of
from rag_probe_langchain.reading.messages import input_messages, output_messages
from rag_probe_langchain.reading.prompt_text import Asked, asked_in
from rag_probe_langchain.reading.providers import provider_of
from rag_probe_langchain.reading.usage import Usage
from rag_probe_langchain.request import Made
from rag_probe_langchain.run import Ids, Prompt, Run
from rag_probe_langchain.shares import share
from rag_probe_langchain.tokens import ESTIMATE, Tokenizer

_NO_PROMPT: Final = Prompt((), None)


def generation_ended(run: Run, outputs: object, ended: int) -> dict[str, Value]:
    """Note what the model saw and wrote, and say it; a call that failed may come with a part of its output, or none."""
    request = run.request
    prompt = run.inputs if isinstance(run.inputs, Prompt) else _NO_PROMPT
    asked = asked_in(prompt.messages)
    response = outputs if isinstance(outputs, LLMResult) else None
    facts = facts_of(response)
    retrieved = request.documents.any or prompt.last is not None
    seen = assemble(asked.text, prompt.last, request, _tokenizer(run, asked, facts.usage)) if retrieved else None
    context = None if seen is None else seen.stage
    rested = _rested(context, asked.text, prompt.last, run) if retrieved else None
    made = None if facts.text is None else Made(facts.text, None, facts.message, ended)
    _note(run, asked.text, made, rested or context)
    stage = _stage(run, prompt, asked.text, provider_of(run.metadata, response), facts, context)
    cap = request.options.policy.max_items
    said = encode_generation(stage, cap)
    if seen is not None:
        record_builders(request, asked.text, seen, said)
    elif retrieved and rested is None:
        said[a.NOT_CAPTURED] = ("context",)
    if rested is not None:
        said = encode_generation(replace(stage, context=rested), cap)
        said[a.INFERRED] = ("context",)
    if context is not None and context.dropped:
        share(run, prompt.last, context.ids, rested or context, said)
    return said


def _stage(
    run: Run, prompt: Prompt, asked: str, provider: str | None, facts: Facts, context: ContextAssembly | None
) -> Generation:
    policy, usage = run.request.options.policy, facts.usage
    stage = Generation(
        operation=run.call.operation if run.call is not None else "chat",
        role=text_of(run.metadata, ROLE),
        model=run.call.model if run.call is not None else None,
        response_model=facts.model,
        provider=provider,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cached_tokens=usage.cached_tokens,
        cache_write_tokens=usage.cache_write_tokens,
        reasoning_tokens=usage.reasoning_tokens,
        finish_reasons=facts.finish_reasons,
        cache_hit=facts.cache_hit,
        prompt=policy.content_of(asked),
        output=None if facts.text is None else policy.content_of(facts.text),
        context=context,
    )
    return _worded(stage, prompt, facts.message, facts.text, policy) if policy.content else stage


def _rested(context: ContextAssembly | None, prompt: str, last: Ids | None, run: Run) -> ContextAssembly | None:
    """What the call rests on beside what it saw itself; None for nothing."""
    made = run.request.made
    if context is None:
        return reduced(prompt, last, made, run.started) if made else None
    return with_earlier(context, prompt, made, run.started)


def _tokenizer(run: Run, asked: Asked, usage: Usage) -> Tokenizer:
    tokenizer = run.request.options.tokenizer
    if tokenizer is not ESTIMATE or not asked.plain or run.call is None or run.call.more:
        return tokenizer
    return calibrated(asked.text, usage.input_tokens)


def _note(run: Run, prompt: str, made: Made | None, context: ContextAssembly | None) -> None:
    """Remember what a model wrote, and of which passages: an answer may be just that, and later passages made of it."""
    request = run.request
    outermost = run.retriever is None
    if outermost:
        known_to(run, request).joining = False
    if made is None:
        return
    if context is not None:
        request.documents.wrote(made.text, context.ids)
    if outermost:
        ids = None if context is None else context.ids
        request.add_made(made._replace(context=ids, echo=is_echo(made.text, prompt, request.made)))


def _worded(
    stage: Generation, prompt: Prompt, message: BaseMessage | None, output: str | None, policy: CapturePolicy
) -> Generation:
    """With the messages in place of the texts that were measured."""
    asked, written = stage.prompt, stage.output
    return replace(
        stage,
        prompt=asked and replace(asked, text=input_messages(prompt.messages, policy)),
        output=written and replace(written, text=output_messages(message, output or "", policy)),
    )
