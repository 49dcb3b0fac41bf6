"""A real collector beside the programs of these tests, and what arrived there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from opentelemetry.proto.trace.v1.trace_pb2 import Span

from rag_probe.path import EvidencePath
from rag_probe.protocols import Selection
from rag_probe_collector.receiver import Collector
from rag_probe_collector.sources import open_source
from rag_probe_collector.spool import SpoolReader
from tests.otlp_batches import spans_in
from tests.rag_probe.programs import PATIENT

STAGES = {
    "invoke_workflow returns desk",
    "retrieval",
    "rag.filter not_old",
    "rag.permission allowed",
    "rag.context as_text",
    "chat scripted-1",
}
"""The spans of one question to the desk."""


@dataclass(frozen=True)
class Arrived:
    """A spool that fills while programs run."""

    spool: Path
    collector: Collector

    def environment(self, protocol: str = "http/protobuf") -> dict[str, str]:
        """What a program needs to send here, all of it at its end unless it flushes; a busy machine loses nothing."""
        address = self.collector.grpc_address if protocol == "grpc" else self.collector.http_address
        return {
            "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://{address}",
            "OTEL_EXPORTER_OTLP_PROTOCOL": protocol,
            "OTEL_SERVICE_NAME": "desk",
            **PATIENT,
            "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "true",
        }

    def spans(self) -> list[Span]:
        """Each as often as it came."""
        with SpoolReader(self.spool) as reader:
            return spans_in(reader.batches())

    def names(self) -> list[str]:
        """Of every span, sorted."""
        return sorted(span.name for span in self.spans())

    def paths(self) -> list[EvidencePath]:
        """One per question, as the evaluator sees them."""
        return list(open_source(f"spool:{self.spool}").paths(Selection()))

    def questions(self) -> list[str]:
        """Of every path, sorted."""
        return sorted(path.question.text or "" for path in self.paths() if path.question is not None)

    def assert_answered(self, questions: Iterable[str]) -> None:
        """Exactly these were answered: each path whole, no span twice, none without its question."""
        asked = sorted(questions)
        spans = self.spans()
        assert max(Counter((span.trace_id, span.span_id) for span in spans).values(), default=0) <= 1
        assert self.questions() == asked
        assert Counter(span.name for span in spans if _is_ours(span)) == Counter({name: len(asked) for name in STAGES})


def _is_ours(span: Span) -> bool:
    return span.name.startswith(("invoke_", "retrieval", "rag.", "chat "))
