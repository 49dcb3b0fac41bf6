"""Checkpoints to evidence paths on one core, against a plain loop over the saver's own `list`.

    python -m tests.benchmarks.checkpoints

Process CPU, each figure the best of interleaved rounds. Beside it: the same joined with its traces, against reading the
two apart; a thread that grows; a database of 1 GB, read in a process of its own, whose limit is the product's (300 MB).
"""

from __future__ import annotations

import logging
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from langchain_core.documents import Document
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from rag_probe.protocols import Selection, SourceOptions
from rag_probe_collector.sources import open_source
from rag_probe_langgraph import RagProbeGraphHandler
from tests.benchmarks.apps import ANSWER, State, as_text, passages
from tests.benchmarks.report import Ratio, table

ROUNDS: Final = 5
THREADS: Final = 200
TURNS: Final = 400
"""Of the long thread."""
LARGE: Final = 1_000_000_000
"""Bytes of the large database."""
_FEW: Final = "answer: answer\nquestion: question\n"
_JOINED: Final = "checkpoints joined with their traces"
_LARGE_CHILD: Final = "import sys; from tests.benchmarks.checkpoints import read_large; read_large(sys.argv[1])"


def run() -> list[Ratio]:
    """Read the same file in turn, ROUNDS times, and compare the best; then the large one."""
    with tempfile.TemporaryDirectory() as directory:
        path, few = Path(directory, "checkpoints.db"), Path(directory, "few.yaml")
        traces = Path(directory, "traces.pb")
        checkpoints = _filled(path, THREADS, traces)
        few.write_text(_FEW)
        measures: dict[str, Callable[[], object]] = {
            "the saver's list": lambda: _listed(path),
            "checkpoints to paths, all channels": lambda: _paths(path, None),
            "checkpoints to paths, two channels": lambda: _paths(path, few),
            _JOINED: lambda: _joined(path, traces),
            "traces to paths": lambda: _read(f"otlp:{traces}"),
        }
        logging.disable(logging.WARNING)  # how channels are read is said once a reading
        rounds = [{name: _seconds(measure) for name, measure in measures.items()} for _ in range(ROUNDS)]
        best = {name: min(each[name] for each in rounds) for name in measures}
        grown = _grown(Path(directory))
        logging.disable(logging.NOTSET)
        rates = {name: checkpoints / seconds for name, seconds in best.items()}
        note = "limit: a loop over SqliteSaver.list, default serialiser"
        ours = [Ratio(name, rates[name], rates["the saver's list"], "per s", note) for name in list(rates)[1:3]]
        apart = checkpoints / (best["checkpoints to paths, all channels"] + best["traces to paths"])
        joined = Ratio(_JOINED, rates[_JOINED], apart, "per s", "limit: checkpoints and traces read apart")
        return [*ours, joined, grown, _large(Path(directory))]


def _filled(path: Path, threads: int, traces: Path | None = None) -> int:
    """A question in each thread, over passages of its own; returns the number of checkpoints."""
    spans = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(spans))
    callbacks = [] if traces is None else [RagProbeGraphHandler(tracer_provider=provider)]
    with closing(sqlite3.connect(path, check_same_thread=False)) as connection:
        connection.execute("PRAGMA synchronous=OFF")
        for thread in range(threads):
            app = _graph(SqliteSaver(connection), passages(20, thread))
            config: Any = {"configurable": {"thread_id": str(thread)}, "callbacks": callbacks}
            app.invoke({"question": f"How long, {thread}?"}, config)
        (count,) = connection.execute("SELECT count(*) FROM checkpoints").fetchone()
    if traces is not None:
        traces.write_bytes(encode_spans(spans.get_finished_spans()).SerializeToString())
    return count


def _grown(directory: Path) -> Ratio:
    """Turns per second of one thread, whose subgraph keeps a memory, against those of its first quarter."""
    seconds: list[float] = []
    path = directory / "grown.db"
    with closing(sqlite3.connect(path, check_same_thread=False)) as connection:
        connection.execute("PRAGMA synchronous=OFF")
        app = _remembering(SqliteSaver(connection), passages(5, 0))
        for turn in range(TURNS):
            app.invoke({"question": f"How long, {turn}?"}, {"configurable": {"thread_id": "t"}})
            if turn + 1 in (TURNS // 4, TURNS):
                seconds.append(min(_seconds(lambda: _paths(path, None)) for _ in range(ROUNDS)))
    quarter, whole = seconds
    return Ratio(
        "turns of a thread four times as long", TURNS / whole, TURNS / 4 / quarter, "per s", "limit: the quarter"
    )


def _remembering(saver: SqliteSaver, found: list[Document]) -> Any:
    inner, built = StateGraph(State), StateGraph(State)
    inner.add_node("look", lambda state: {"passages": found})
    inner.add_edge(START, "look")
    built.add_node("retrieve", inner.compile(checkpointer=True))
    built.add_node("draft", lambda state: {"answer": ANSWER.format(cited=2)})
    built.add_edge(START, "retrieve")
    built.add_edge("retrieve", "draft")
    return built.compile(checkpointer=saver)


def _graph(saver: SqliteSaver, found: list[Document]) -> Any:
    built = StateGraph(State)
    nodes: dict[str, Any] = {
        "retrieve": lambda state: {"passages": found},
        "filter": lambda state: {"passages": state["passages"][:16]},
        "draft": lambda state: {"draft": as_text(state["passages"]), "answer": ANSWER.format(cited=2)},
    }
    for name, body in nodes.items():
        built.add_node(name, body)
    for one, other in zip([START, *nodes], [*nodes, END], strict=True):
        built.add_edge(one, other)
    return built.compile(checkpointer=saver)


def _listed(path: Path) -> int:
    with closing(sqlite3.connect(path, check_same_thread=False)) as connection:
        return sum(1 for _ in SqliteSaver(connection).list(None))


def _paths(path: Path, mapping: Path | None) -> int:
    return _read(f"checkpoints:sqlite:///{path}", SourceOptions(mapping=mapping))


def _joined(path: Path, traces: Path) -> int:
    return _read(f"checkpoints:sqlite:///{path}", SourceOptions(traces=f"otlp:{traces}"))


def _read(spec: str, options: SourceOptions | None = None) -> int:
    return sum(1 for _ in open_source(spec, options).paths(Selection()))


def _seconds(measure: Callable[[], object]) -> float:
    before = time.process_time()
    measure()
    return time.process_time() - before


def _large(directory: Path) -> Ratio:
    path = directory / "large.db"
    _filled(path, 10)
    _filled_to(path, LARGE)
    reached = subprocess.run(
        [sys.executable, "-c", _LARGE_CHILD, str(path)], check=True, capture_output=True, text=True
    ).stdout
    megabytes = float(reached.split()[-1])
    size = f"{path.stat().st_size / 1e6:,.0f} MB of checkpoints, all channels"
    return Ratio("memory for a large database", megabytes, 300, "MB", size)


def _filled_to(path: Path, size: int) -> None:
    """Threads of the file once more, until it is that large."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA synchronous=OFF")
        copies = 0
        while path.stat().st_size < size:
            copies += 1
            for table_name in ("checkpoints", "writes"):
                columns = ", ".join(str(row[1]) for row in connection.execute(f"PRAGMA table_info({table_name})"))
                rest = columns.removeprefix("thread_id, ")
                connection.execute(
                    f"INSERT INTO {table_name} ({columns}) SELECT '{copies}-' || thread_id, {rest} "
                    f"FROM {table_name} WHERE thread_id NOT LIKE '%-%'"
                )
            connection.commit()
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def read_large(path: str) -> None:
    """In a process of its own: read everything, and print the peak of memory in MB."""
    logging.disable(logging.WARNING)
    count = _paths(Path(path), None)
    print(count, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3)


if __name__ == "__main__":
    print(table(run()))
