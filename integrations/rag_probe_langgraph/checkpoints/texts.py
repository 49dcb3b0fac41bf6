"""Text in a channel: the question, the context (text that holds the passages), else an answer."""

from __future__ import annotations

from dataclasses import replace

from langchain_core.messages import BaseMessage

from rag_probe_langchain.builder import SHORTEST
from rag_probe_langchain.context import assemble
from rag_probe_langchain.reading.prompt_text import message_text
from rag_probe_langgraph.checkpoints.evidence import Evidence
from rag_probe_langgraph.checkpoints.roles import Role


def read_text(evidence: Evidence, node: str, channel: str, role: Role | None, value: str | BaseMessage) -> None:
    """Read one text, by its role; without one, by whether passages stand in it."""
    text = value if isinstance(value, str) else message_text(value)
    if role == "question":
        _asks(evidence, channel, text)
    elif role in ("confidence", "outcome", "citations"):
        evidence.note(channel, role)
        evidence.output[channel] = text
    elif role == "context":
        _holds_passages(evidence, node, channel, text)
    elif role is not None or not _holds_passages(evidence, node, channel, text):
        evidence.note(channel, "answer")
        evidence.output[channel] = text
        evidence.made(text, None)
        evidence.drafts.wrote(channel, text, named=role == "answer")


def _asks(evidence: Evidence, channel: str, text: str) -> None:
    """The question is what was asked first: what a node makes of it later is what it searches for."""
    named = bool(evidence.roles) and not evidence.named
    if text and (evidence.question is None or named):
        evidence.asked(text)
        evidence.named = True
    if text in (evidence.question, ""):
        evidence.note(channel, "question")
    else:
        evidence.unmapped[channel] = None


def _holds_passages(evidence: Evidence, node: str, channel: str, text: str) -> bool:
    if len(text) < SHORTEST or evidence.last is None:
        return False
    seen = assemble(text, evidence.last, evidence.request)
    if seen is None or not seen.stage.ids:
        return False
    evidence.note(channel, "context")
    before = evidence.context
    handed_on = before is not None and before.ids == seen.stage.ids
    evidence.context = replace(seen.stage, step=before.step if before is not None and handed_on else node)
    return True
