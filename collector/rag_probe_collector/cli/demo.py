"""`rag-probe demo`: two sample apps with planted faults, and whether the report names the stage of each."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Final

import typer
from rich.console import Console

from rag_probe_collector.cli.children import Child, child, ending_cleanly
from rag_probe_collector.cli.planted import compare, table
from rag_probe_collector.cli.score import score
from rag_probe_collector.errors import InputError

EXPERIMENT: Final = "rag-probe-demo"
DIGEST_KEY: Final = "rag-probe-demo"
"""The key under which the shipped reviews are bound to the answers."""
APPS: Final = {"security": ("grpc", "grpc"), "returns": ("http/protobuf", "http")}
"""The protocol that each app sends by and the listener for it: one each, so that both are seen to work."""
READY_S: Final = 120.0
"""For a busy machine; a collector that fails is noticed at once."""

_FOREIGN: Final = ("OTEL_", "RAG_PROBE_", "LANGSMITH_", "LANGCHAIN_")
"""Beginnings of variables that could send the traces elsewhere or change what they hold."""
_COMMAND: Final = ("-P", "-c", "from rag_probe_collector.cli import main; main()")

_Out = Annotated[Path | None, typer.Option(help="Where the report is written; without it, it is only printed.")]
_Keep = Annotated[
    bool, typer.Option("--keep", help="Keep report and spool, in rag-probe-demo/ when there is no --out.")
]
_Model = Annotated[str | None, typer.Option(metavar="PROVIDER:NAME", help="A chat model in place of the scripted one.")]


def demo(*, out: _Out = None, keep: _Keep = False, model: _Model = None) -> int:
    """Run two sample apps against a collector, score them, and compare the report with the faults planted in them.

    Exits 0 when the report names the planted stage of every case. Raises InputError when something cannot run.
    """
    data = _shipped()
    progress = Console(stderr=True, highlight=False)
    with ending_cleanly(), TemporaryDirectory(prefix="rag-probe-demo-") as directory:
        scratch = Path(directory)
        home = out or (Path("rag-probe-demo") if keep else scratch / "report")
        spool = (home if keep else scratch) / "demo.db"
        _prepared(home, spool)
        with _collector(spool, scratch) as (collector, listeners):
            where = "  ".join(f"otlp/{name} {address}" for name, address in listeners.items())
            progress.print(f"collector  {where}", markup=False, soft_wrap=True)
            for line in _ask(listeners, model, scratch):
                progress.print(line, markup=False, soft_wrap=True)
            if collector.stop() != 0:
                raise InputError(f"demo: the collector failed: {_reason(collector)}")
        _score(spool, data, home)
        verdicts = compare(data / "planted.json", home / "report.json", real_model=model is not None)
    console = Console(highlight=False)
    console.print(table(verdicts, console.width))
    if out or keep:
        progress.print(f"report     {home}" + (f"  spool {spool}" if keep else ""), markup=False, soft_wrap=True)
    return int(any(verdict.right is False for verdict in verdicts))


def _shipped() -> Path:
    """The data of the sample apps, found without importing them: they run in processes of their own."""
    spec = find_spec("rag_probe_demo")
    if spec is None or not spec.submodule_search_locations:
        raise InputError("demo: the package rag_probe_demo is missing; install it: pip install 'rag-probe-otel[demo]'")
    return Path(spec.submodule_search_locations[0]) / "data"


def _prepared(home: Path, spool: Path) -> None:
    """Make the directory; take away an earlier demo's spool, which would answer the same cases twice."""
    try:
        home.mkdir(parents=True, exist_ok=True)
        for suffix in ("", "-wal", "-shm"):
            spool.with_name(spool.name + suffix).unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"demo: {error.filename}: {error.strerror}; choose another --out") from None


@contextmanager
def _collector(spool: Path, scratch: Path) -> Generator[tuple[Child, Mapping[str, str]]]:
    """A collector on free ports, and where it listens."""
    ready = scratch / "ready.json"
    wanted = ["--db", str(spool), "--grpc", "127.0.0.1:0", "--http", "127.0.0.1:0", "--ready-file", str(ready)]
    with child([*_COMMAND, "collect", *wanted], scratch / "collector.log") as started:
        deadline = time.monotonic() + READY_S
        while not ready.exists():
            if started.ended or time.monotonic() > deadline:
                raise InputError(f"demo: the collector did not start: {_reason(started)}")
            time.sleep(0.02)
        told = json.loads(ready.read_bytes())
        yield started, {"grpc": str(told["grpc"]), "http": str(told["http"])}


def _ask(listeners: Mapping[str, str], model: str | None, scratch: Path) -> Iterator[str]:
    """Both apps answer their questions, each in a process of its own; yields how each of them fared."""
    chosen = [] if model is None else ["--model", model]
    with ExitStack() as stack:
        running: dict[str, Child] = {}
        for app, (protocol, listener) in APPS.items():
            arguments = ["-P", "-m", "rag_probe_demo", app, "--experiment", EXPERIMENT, *chosen]
            environment = _environment(protocol, f"http://{listeners[listener]}")
            running[app] = stack.enter_context(child(arguments, scratch / f"{app}.log", environment))
        for app, process in running.items():
            code = process.wait()
            if code not in (0, 1):
                raise InputError(f"demo: the {app} assistant did not run: {_reason(process)}")
            yield f"{app:10} " + ("answered" if code == 0 else f"failed on a question: {_reason(process)}")


def _reason(process: Child) -> str:
    return process.last_line().removeprefix("rag-probe: ")


def _environment(protocol: str, endpoint: str) -> dict[str, str]:
    """What the apps need to send to our collector, and nowhere else."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith(_FOREIGN)}
    loopback = {name: ",".join(filter(None, [ours.get(name), "127.0.0.1"])) for name in ("no_proxy", "NO_PROXY")}
    return (
        ours
        | loopback
        | {
            "OTEL_EXPORTER_OTLP_ENDPOINT": endpoint,
            "OTEL_EXPORTER_OTLP_PROTOCOL": protocol,
            "OTEL_EXPORTER_OTLP_TIMEOUT": "60",  # a case that a busy machine loses would look like a fault
            "RAG_PROBE_DIGEST_KEY": DIGEST_KEY,
        }
    )


def _score(spool: Path, data: Path, home: Path) -> None:
    """Print the report and write it to `home`; its gate fails, as it must with faults planted."""
    score(
        f"spool:{spool}",
        cases=data / "cases.yaml",
        corpus=data / "corpus.json",
        reviews=data / "reviews.yaml",
        experiment=EXPERIMENT,
        out=home,
    )
