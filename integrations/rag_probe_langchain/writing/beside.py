"""Spans beside another instrumentation's of the same steps: ours hang under theirs, and say only what theirs do not."""

from __future__ import annotations

from opentelemetry.context import Context
from opentelemetry.trace import Span, SpanKind, format_span_id, get_current_span

from rag_probe import attributes as a
from rag_probe.attributes import Value
from rag_probe.wire.beside import put_aside
from rag_probe_langchain.opening import called
from rag_probe_langchain.peers.theirs import find_theirs
from rag_probe_langchain.request import StageSpan
from rag_probe_langchain.run import Run
from rag_probe_langchain.writing.writer import Writer


class WriterBeside(Writer):
    """Writes under names of its own, so that whoever counts steps and tokens counts theirs."""

    @staticmethod
    def title(run: Run) -> str:
        """What ours is about, under theirs of the same step."""
        match run.kind:
            case "retriever":
                return f"rag.retrieval {run.name}"
            case "model":
                model = called(run).model
                return f"rag.generation {model}" if model else "rag.generation"
            case "tool":
                return f"rag.tool {run.name}"
            case "chain":
                if run.node is not None:
                    return f"rag.node {run.node.name}"
                return f"rag.{run.mark or ('answer' if run.parent is None else 'agent')} {run.name}"

    @staticmethod
    def stage_title(stage: StageSpan) -> str:
        """Of a retrieval too."""
        return f"rag.{stage.attributes.get(a.STAGE)} {stage.attributes.get(a.STEP_NAME, stage.run.name)}"

    @staticmethod
    def kind(run: Run) -> SpanKind:  # noqa: ARG004
        """The call to a model is theirs."""
        return SpanKind.INTERNAL

    def worded(self, attributes: dict[str, Value]) -> dict[str, Value]:
        """Under our names."""
        return put_aside(super().worded(attributes))

    def hung(self, around: Run | None, attributes: dict[str, Value]) -> dict[str, Value]:
        """With the parent that it has among ours."""
        said = super().hung(around, attributes)
        said[a.BESIDE] = True
        above = None if around is None else around.shown()
        if above is not None:
            said[a.PARENT] = format_span_id(self.span_of(above).get_span_context().span_id)
        return said

    def fail(self, run: Run, span: Span, error: BaseException) -> None:
        """Theirs is the step that failed."""

    def context_of(self, run: Run) -> Context | None:
        """The nearer of theirs and ours."""
        return run.theirs or super().context_of(run)

    def current_of(self, run: Run, shown: Run) -> Span | None:  # noqa: ARG002
        """Theirs, where it has come; it may still come, if ours is told of the run first."""
        request = run.request
        find_theirs(run)
        if request.peers is not None and run.theirs is None and run.kind != "chain":
            return None  # and must not find itself inside ours
        if request.root is not None:
            self.span_of(request.root)
        return get_current_span(self.inside(run, request))
