"""Messages in a channel: model calls by what they left, searches by the artifacts of tools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from rag_probe.path import Step
from rag_probe.stages import Generation, ToolCall
from rag_probe_langchain.context import assemble
from rag_probe_langchain.question import question_in
from rag_probe_langchain.reading.prompt_text import message_text, prompt_text
from rag_probe_langchain.reading.response import finish_reasons_of, response_model_of
from rag_probe_langchain.reading.usage import usage_of
from rag_probe_langchain.scan import lists_in
from rag_probe_langgraph.checkpoints.evidence import Evidence
from rag_probe_langgraph.checkpoints.passages import arrived


def messages_in(value: object) -> list[BaseMessage]:
    """`value` as messages, if it is one or a list of nothing else."""
    if isinstance(value, BaseMessage):
        return [value]
    if isinstance(value, list) and all(isinstance(item, BaseMessage) for item in cast("list[object]", value)):
        return cast("list[BaseMessage]", value)
    return []


def read_messages(evidence: Evidence, node: str, channel: str, messages: Sequence[BaseMessage]) -> None:
    """Read what was not heard before: a node around a subgraph, or one that returns all messages, writes them again."""
    evidence.note(channel, "messages")
    evidence.output["messages"] = evidence.heard
    for message in _of_this_turn(messages):
        if any(message.id == heard.id and message.content == heard.content for heard in evidence.heard):
            continue
        if isinstance(message, ToolMessage):
            _tool_ran(evidence, node, channel, message)
        elif isinstance(message, AIMessage):
            _model_ran(evidence, message)
        evidence.heard.append(message)


def _tool_ran(evidence: Evidence, node: str, channel: str, message: ToolMessage) -> None:
    evidence.tools.append(Step(ToolCall(name=message.name, call_id=message.tool_call_id)))
    asked = _asked(evidence, message.tool_call_id)
    query = None if asked is None else evidence.request.options.policy.content_of(asked)
    for each in lists_in(cast(object, message.artifact)):
        if each.passages:
            evidence.note(channel, "retrieved")
            arrived(evidence, message.name or node, evidence.request.documents.add(each.passages), query)


def _asked(evidence: Evidence, call_id: str) -> str | None:
    """What a tool was asked: the argument that is named as a question, else the only one, in the call of that id."""
    for message in reversed(evidence.heard):
        for call in message.tool_calls if isinstance(message, AIMessage) else ():
            if call["id"] == call_id:
                texts = [value for value in call["args"].values() if isinstance(value, str)]
                return question_in(call["args"]) or (texts[0] if len(texts) == 1 else None)
    return None


def _model_ran(evidence: Evidence, message: AIMessage) -> None:
    """A message of a model is all that is left of its call; its prompt was what the conversation held before."""
    seen = None
    if evidence.last:
        seen = assemble(prompt_text(evidence.heard), evidence.last, evidence.request)
    evidence.context = evidence.context if seen is None else seen.stage
    usage = usage_of(message)
    text = message_text(message)
    evidence.generations.append(
        Step(
            Generation(
                response_model=response_model_of(message),
                input_tokens=usage.input_tokens,
                output_tokens=usage.output_tokens,
                cached_tokens=usage.cached_tokens,
                cache_write_tokens=usage.cache_write_tokens,
                reasoning_tokens=usage.reasoning_tokens,
                finish_reasons=finish_reasons_of(message),
                output=evidence.request.options.policy.content_of(text),
                context=None if seen is None else seen.stage,
            )
        )
    )
    evidence.made(text, message)
    evidence.drafts.wrote("messages", text, named=False)


def _of_this_turn(messages: Sequence[BaseMessage]) -> Sequence[BaseMessage]:
    """What follows the last thing that a person said: a node may write the whole conversation again."""
    asked = [place for place, message in enumerate(messages) if isinstance(message, HumanMessage)]
    return messages[asked[-1] :] if asked else messages
