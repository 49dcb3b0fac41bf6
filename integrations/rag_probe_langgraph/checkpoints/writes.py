"""One write → the stage that it is: by the channel's role, else by what was written.

The very rules by which the handler reads what steps return.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from langchain_core.messages import BaseMessage

from rag_probe_langchain.question import question_in
from rag_probe_langchain.scan import lists_in
from rag_probe_langgraph.checkpoints.evidence import Evidence
from rag_probe_langgraph.checkpoints.passages import read_passages
from rag_probe_langgraph.checkpoints.roles import Role, role_of
from rag_probe_langgraph.checkpoints.stored import Spelled, Unreadable
from rag_probe_langgraph.checkpoints.talk import messages_in, read_messages
from rag_probe_langgraph.checkpoints.texts import read_text
from rag_probe_langgraph.checkpoints.verdicts import read_verdict


def read_input(evidence: Evidence, given: object) -> None:
    """Read what went into the graph."""
    evidence.asked(question_in(_readable(given)))


def read_write(evidence: Evidence, node: str, channel: str, value: object, *, given: bool) -> None:
    """Read one write; `given`: of what went into the graph, where a text is no answer of it."""
    role = role_of(channel, evidence.roles)
    if isinstance(value, Unreadable):
        evidence.closed[channel] = value.why
    elif given and role in (None, "answer") and isinstance(value, str):
        if role == "answer":
            evidence.drafts.wrote(channel, value, named=True)
    elif role != "verdict":
        _read(evidence, node, channel, role, value)
    elif not read_verdict(evidence, channel, value, given=given):
        _read(evidence, node, channel, None, value)


def _read(evidence: Evidence, node: str, channel: str, role: Role | None, value: object) -> None:
    lists = [each for each in lists_in(value) if each.passages or channel in evidence.sets]
    if role in ("messages", None) and (messages := messages_in(value)):
        read_messages(evidence, node, channel, messages)
    elif lists and role not in ("ignore", "answer"):
        for each in lists:
            read_passages(evidence, node, channel, role, each)
    elif isinstance(value, (str, BaseMessage)) and role != "ignore" and not (role is None and type(value) is Spelled):
        read_text(evidence, node, channel, role, value)
    elif role in ("answer", "citations", "confidence", "outcome"):
        evidence.note(channel, role)
        evidence.output[channel] = value
        if role == "answer" and isinstance(value, list):
            _read_drafts(evidence, channel, cast("list[object]", value))
    else:
        evidence.unmapped[channel] = None


def _read_drafts(evidence: Evidence, channel: str, values: Sequence[object]) -> None:
    """A list that grows by a draft in each pass."""
    for text in values[-1:]:
        if isinstance(text, str):
            evidence.drafts.wrote(channel, text, named=True)


def _readable(given: object) -> object:
    if not isinstance(given, dict):
        return None if isinstance(given, Unreadable) else given
    entries = cast("dict[str, object]", given).items()
    return {channel: value for channel, value in entries if not isinstance(value, Unreadable)}
