"""Stored spans to scored cases on one core, against parsing the same bytes and nothing else.

    python -m tests.benchmarks.scoring

Process CPU, each figure the best of interleaved rounds, so that other work on the machine disturbs all alike. Beside
it: one trace of 50,000 spans in a process of its own, whose limits are the product's (5 s, 500 MB).
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from rag_probe.protocols import Selection
from rag_probe_collector.metrics.labels import Labels, prepare
from rag_probe_collector.register import Case
from rag_probe_collector.scoring.score import score
from rag_probe_collector.sources import open_source
from rag_probe_collector.spool import SpoolWriter
from tests.benchmarks.report import Ratio, table
from tests.benchmarks.requests import CASES, SPANS, messages

ROUNDS: Final = 7
QUESTIONS: Final = 1_000
LARGE: Final = 5_000
"""Questions of the one large trace."""
_LARGE_CHILD: Final = "import sys; from tests.benchmarks.scoring import read_large; read_large(sys.argv[1])"


def run() -> list[Ratio]:
    """Measure parsing and ours in turn, ROUNDS times, and compare the best."""
    bodies = messages(QUESTIONS)
    with tempfile.TemporaryDirectory() as directory:
        file, spool = _stored(bodies, Path(directory))
        measures: dict[str, Callable[[], object]] = {
            "parsing": lambda: [ExportTraceServiceRequest.FromString(body) for body in bodies],
            "every attribute to a dict": lambda: [_dicts(body) for body in bodies],
            "file to paths": lambda: _paths(file),
            "spool to paths": lambda: _paths(spool),
            "file to scored cases": lambda: _scored(file),
        }
        best = _best(measures)
        large = _large(Path(directory))
    rates = {name: SPANS * QUESTIONS / seconds for name, seconds in best.items()}
    note = f"limit: parsing; {sum(map(len, bodies)) // (SPANS * QUESTIONS)} bytes a span"
    ours = [Ratio(name, rates[name], rates["parsing"], "spans/s", note) for name in list(rates)[1:]]
    return [*ours, *large]


def _stored(bodies: list[bytes], directory: Path) -> tuple[str, str]:
    file, spool = directory / "traces.pb", directory / "spool.db"
    file.write_bytes(b"".join(len(body).to_bytes(4, "big") + body for body in bodies))
    with SpoolWriter(spool) as writer:
        for body in bodies:
            writer.write(body)
    return f"otlp:{file}", f"spool:{spool}"


def _best(measures: dict[str, Callable[[], object]]) -> dict[str, float]:
    best = dict.fromkeys(measures, float("inf"))
    for _ in range(ROUNDS):
        for name, measure in measures.items():
            started = time.process_time()
            measure()
            best[name] = min(best[name], time.process_time() - started)
    return best


def _dicts(body: bytes) -> list[dict[str, str]]:
    """What a reader that takes everything does with the protobuf library."""
    return [
        {each.key: each.value.string_value for each in span.attributes}
        for sender in ExportTraceServiceRequest.FromString(body).resource_spans
        for scope in sender.scope_spans
        for span in scope.spans
    ]


def _paths(source: str) -> int:
    return sum(1 for _ in open_source(source).paths(Selection()))


def _scored(source: str) -> int:
    labels = {f"c{number}": _labels(number) for number in range(CASES)}
    return sum(1 for path in open_source(source).paths(Selection()) if score(labels[path.tags.case_id or ""], path))


def _labels(number: int) -> Labels:
    ids = frozenset({"kb-1#0", "kb-2#1"})
    return prepare(Case(id=f"c{number}", segment="s", question="q", answerable=True, allowed_ids=ids, gold_ids=ids))


def _large(directory: Path) -> list[Ratio]:
    path = directory / "large.pb"
    path.write_bytes(b"".join(messages(LARGE, one_trace=True)))
    done = subprocess.run([sys.executable, "-c", _LARGE_CHILD, str(path)], check=True, capture_output=True, text=True)
    milliseconds, megabytes = map(float, done.stdout.split())
    name = f"one trace of {LARGE * SPANS:,} spans"
    return [
        Ratio(name, milliseconds, 5_000, "ms", "limit: the product's; wall clock"),
        Ratio(name, megabytes, 500, "MB", "limit: the product's; peak of the whole process"),
    ]


def read_large(path: str) -> None:
    """Read the one trace in this process, and print milliseconds and peak megabytes."""
    started = time.perf_counter()
    _paths(f"otlp:{path}")
    taken = time.perf_counter() - started
    sys.stdout.write(f"{taken * 1e3} {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}")


if __name__ == "__main__":
    print(table(run()))
