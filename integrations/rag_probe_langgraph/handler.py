"""The handler that also hears a graph pause and go on."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rag_probe.faults import log_once
from rag_probe_langchain import RagProbeCallbackHandler
from rag_probe_langchain.resuming import pause_graph, resume_graph

if TYPE_CHECKING:
    from langgraph.callbacks import GraphCallbackHandler, GraphInterruptEvent, GraphResumeEvent
else:
    try:
        from langgraph.callbacks import GraphCallbackHandler
    except ModuleNotFoundError as missing:
        if missing.name != "langgraph.callbacks":
            raise
        from langchain_core.callbacks import BaseCallbackHandler as GraphCallbackHandler


class RagProbeGraphHandler(RagProbeCallbackHandler, GraphCallbackHandler):
    """`RagProbeCallbackHandler` for LangGraph: a paused graph has no answer yet, and a resumed run is linked to it.

    With a langgraph before 1.1.8 it hears of a pause where a node asks (`interrupt()`), and not of `interrupt_before`
    and `interrupt_after`.
    """

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
