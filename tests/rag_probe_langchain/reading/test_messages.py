"""Messages as the GenAI conventions write them."""

from __future__ import annotations

import json

import pytest
from langchain_core import messages as m

from rag_probe.policy import CapturePolicy
from rag_probe_langchain.reading.messages import input_messages, output_messages

POLICY = CapturePolicy(content=True)
ROLES = {"AI": "assistant", "Human": "user", "System": "system", "Tool": "tool"}


@pytest.mark.parametrize("kind", ROLES)
@pytest.mark.parametrize("streamed", ["", "Chunk"])
def test_roles_are_the_same_for_what_was_streamed(kind, streamed):
    made = getattr(m, f"{kind}Message{streamed}")
    message = made(content="a text", **({"tool_call_id": "call-1"} if kind == "Tool" else {}))
    (said,) = json.loads(input_messages([message], POLICY))
    assert said["role"] == ROLES[kind]
    (said,) = json.loads(output_messages(message, "a text", POLICY))
    assert said["role"] == ROLES[kind]


def test_a_role_that_nobody_knows_stays_what_the_app_calls_it():
    (said,) = json.loads(input_messages([m.ChatMessage("a text", role="Judge")], POLICY))
    assert said["role"] == "chat"
