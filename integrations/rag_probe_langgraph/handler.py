"""The handler that also hears a graph pause and go on."""

from __future__ import annotations

from typing import ClassVar

from langgraph.callbacks import GraphCallbackHandler, GraphInterruptEvent, GraphResumeEvent

from rag_probe_langchain import RagProbeCallbackHandler


class RagProbeGraphHandler(RagProbeCallbackHandler, GraphCallbackHandler):
    """`RagProbeCallbackHandler` for LangGraph: pauses are no errors, and a resumed run is linked to the paused one."""

    scope: ClassVar[str] = "rag_probe.langgraph"

    def on_interrupt(self, event: GraphInterruptEvent) -> None:
        """The graph pauses: there is no answer yet."""

    def on_resume(self, event: GraphResumeEvent) -> None:
        """The graph goes on where it paused."""
