"""The handler that also hears a graph pause and go on."""

from __future__ import annotations

from typing import ClassVar

from langgraph.callbacks import GraphCallbackHandler, GraphInterruptEvent, GraphResumeEvent

from rag_probe.faults import log_once
from rag_probe_langchain import RagProbeCallbackHandler
from rag_probe_langchain.resuming import pause_graph, resume_graph


class RagProbeGraphHandler(RagProbeCallbackHandler, GraphCallbackHandler):
    """`RagProbeCallbackHandler` for LangGraph: a paused graph has no answer yet, and a resumed run is linked to it."""

    scope: ClassVar[str] = "rag_probe.langgraph"

    def on_interrupt(self, event: GraphInterruptEvent) -> None:
        """The graph pauses."""
        try:
            pause_graph(event.run_id, event.checkpoint_id)
        except Exception as error:  # the graph goes on unharmed
            log_once("on_interrupt", error)

    def on_resume(self, event: GraphResumeEvent) -> None:
        """The graph goes on where it paused."""
        try:
            resume_graph(event.run_id, event.checkpoint_id)
        except Exception as error:  # as above
            log_once("on_resume", error)
