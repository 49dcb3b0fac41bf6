"""Messages in the GenAI conventions' JSON shape, with content on only."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from rag_probe.faults import log_once
from rag_probe.policy import CapturePolicy
from rag_probe_langchain.reading.prompt_text import message_text

_ROLES: Final = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool", "developer": "system"}


def input_messages(messages: Sequence[BaseMessage] | str, policy: CapturePolicy) -> str | None:
    """`[{"role", "parts": [{"type", "content"}]}]`; each text is cut at the policy's limit, the JSON never is."""
    if not policy.content:
        return None
    if isinstance(messages, str):
        return _dump([{"role": "user", "parts": _text(messages, policy)}])
    return _dump([_message(message, policy) for message in messages])


def output_messages(message: BaseMessage | None, text: str, policy: CapturePolicy) -> str | None:
    """One answer, with the calls of tools that it asks for and why it stopped."""
    if not policy.content:
        return None
    entry = _message(message, policy) if message is not None else {"role": "assistant", "parts": _text(text, policy)}
    metadata: Mapping[str, object] = message.response_metadata if message is not None else {}
    entry["finish_reason"] = str(metadata.get("finish_reason") or metadata.get("stop_reason") or "stop")
    return _dump([entry])


def _message(message: BaseMessage, policy: CapturePolicy) -> dict[str, object]:
    role = _role(message)
    if isinstance(message, ToolMessage):
        response = policy.text(message_text(message))
        return {
            "role": role,
            "parts": [{"type": "tool_call_response", "id": message.tool_call_id, "response": response}],
        }
    parts = _text(message_text(message), policy)
    if isinstance(message, AIMessage):
        parts += [
            {
                "type": "tool_call",
                "id": call["id"],
                "name": call["name"],
                "arguments": _arguments(call["args"], policy),
            }
            for call in message.tool_calls
        ]
    return {"role": role, "parts": parts}


def _role(message: BaseMessage) -> str:
    kind = message.type.removesuffix("MessageChunk").lower()  # as what was streamed is called
    return _ROLES.get(kind, message.type)


def _arguments(args: object, policy: CapturePolicy) -> str | None:
    """As they are read, so that a redactor sees the characters and not their escapes."""
    try:
        return policy.text(_dump(args))
    except Exception as error:  # an odd object of the app's among them
        log_once("the arguments of a tool", error)
        return None


def _text(text: str, policy: CapturePolicy) -> list[dict[str, object]]:
    content = policy.text(text)
    return [] if not content else [{"type": "text", "content": content}]


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
