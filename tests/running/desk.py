"""The app that is run everywhere: a returns desk, its questions, and the handler that hears them."""

from __future__ import annotations

from typing import Any

from rag_probe_langchain import RagProbeCallbackHandler
from tests.rag_probe_langchain.apps import ANSWER, rag

CHAIN = rag()
HANDLER = RagProbeCallbackHandler()
CONFIG: Any = {"callbacks": [HANDLER]}

__all__ = ["ANSWER", "CHAIN", "CONFIG", "HANDLER", "ask"]


def ask(question: str) -> str:
    """The answer, with its path on the way."""
    return CHAIN.invoke(question, CONFIG)
