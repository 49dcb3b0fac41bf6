"""Durable ingest on one core: 512-span batches of about 2 kB a span, against what the machine allows.

    python -m tests.benchmarks.ingest

Limits, measured in the same run on the same core: parsing the same bytes (a receiver that checks what it stores cannot
be faster), and appending them to a file with fdatasync after each batch (nothing durable can be faster). The clients
that load a collector over gRPC and HTTP run on the other cores and send bytes that were made before.
"""

import http.client
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

import grpc
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from rag_probe_collector.spool import SpoolWriter, examine
from tests.benchmarks.batches import SPANS, batches
from tests.benchmarks.report import Ratio, table

ROUNDS: Final = 5
BATCHES: Final = 60
CLIENTS: Final = 4
EXPORT: Final = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
COMMAND: Final = "from rag_probe_collector.cli import main; main()"

Payloads = Sequence[bytes]
Send = Callable[[bytes], object]


def run() -> list[Ratio]:
    """Measure limits and ours in turn, ROUNDS times, and compare the best of each: noise only ever slows."""
    rates: dict[str, list[float]] = {}
    payloads = batches(BATCHES)
    for _ in range(ROUNDS):
        for name, measure in _MEASURES.items():
            with tempfile.TemporaryDirectory() as directory:
                seconds = measure(payloads, Path(directory))
            rates.setdefault(name, []).append(SPANS * len(payloads) / seconds)
    rate = {name: max(measured) for name, measured in rates.items()}
    return [
        Ratio(f"durable ingest {ours}", rate[ours], rate[limit], "spans/s", f"limit: {limit}")
        for ours in ("in process", "over gRPC", "over HTTP")
        for limit in ("parsing", "append + fdatasync")
    ]


def _parse(payloads: Payloads, _: Path) -> float:
    with _one_core(), _timed() as timer:
        for payload in payloads:
            ExportTraceServiceRequest.FromString(payload)
    return timer()


def _append(payloads: Payloads, directory: Path) -> float:
    with _one_core(), (directory / "log").open("wb") as file, _timed() as timer:
        for payload in payloads:
            file.write(payload)
            file.flush()
            os.fdatasync(file.fileno())
    return timer()


def _in_process(payloads: Payloads, directory: Path) -> float:
    with _one_core(), SpoolWriter(directory / "spool.db") as writer, _timed() as timer:
        for stored in [writer.submit(examine(payload)) for payload in payloads]:
            stored.result()
    return timer()


def _over_grpc(payloads: Payloads, directory: Path) -> float:
    with ExitStack() as closing:
        address = closing.enter_context(_collector(directory))["grpc"]
        channels = [closing.enter_context(grpc.insecure_channel(address)) for _ in range(CLIENTS)]
        return _sent_by([channel.unary_unary(EXPORT) for channel in channels], payloads)


def _over_http(payloads: Payloads, directory: Path) -> float:
    with ExitStack() as closing:
        address = closing.enter_context(_collector(directory))["http"]
        connections = [http.client.HTTPConnection(address) for _ in range(CLIENTS)]
        for connection in connections:
            closing.callback(connection.close)
        return _sent_by([_poster(connection) for connection in connections], payloads)


_MEASURES: Final = {
    "parsing": _parse,
    "append + fdatasync": _append,
    "in process": _in_process,
    "over gRPC": _over_grpc,
    "over HTTP": _over_http,
}


def _poster(connection: http.client.HTTPConnection) -> Send:
    def send(payload: bytes) -> None:
        connection.request("POST", "/v1/traces", payload, {"Content-Type": "application/x-protobuf"})
        response = connection.getresponse()
        response.read()
        if response.status != http.HTTPStatus.OK:
            raise RuntimeError(f"the collector answered {response.status}")

    return send


def _sent_by(clients: Sequence[Send], payloads: Payloads) -> float:
    """Each client sends its share, one request after the other; the first request of each is not timed."""

    def all_of(send: Send, share: Iterable[bytes]) -> None:
        for payload in share:
            send(payload)

    for client in clients:
        client(b"")
    with ThreadPoolExecutor(len(clients)) as threads, _timed() as timer:
        shares = [payloads[index :: len(clients)] for index in range(len(clients))]
        for done in [threads.submit(all_of, client, share) for client, share in zip(clients, shares, strict=True)]:
            done.result()
    return timer()


@contextmanager
def _collector(directory: Path) -> Generator[dict[str, str]]:
    """A collector in a process of its own on one core; yields where it listens."""
    ready = directory / "ready.json"
    listeners = ["--grpc=127.0.0.1:0", "--http=127.0.0.1:0"]
    with _one_core():  # which the child inherits
        arguments = [f"--db={directory / 'spool.db'}", f"--ready-file={ready}", *listeners]
        process = subprocess.Popen([sys.executable, "-c", COMMAND, "collect", *arguments], stderr=subprocess.DEVNULL)
    try:
        while not ready.exists():
            if process.poll() is not None:
                raise RuntimeError("the collector did not start")
            time.sleep(0.01)
        yield json.loads(ready.read_text())
    finally:
        process.terminate()
        process.wait()


@contextmanager
def _one_core() -> Generator[None]:
    """Keep this process, and those it starts, on one core where the system can do that."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    every = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(every)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, every)


@contextmanager
def _timed() -> Generator[Callable[[], float]]:
    """Yield what returns the seconds that the block took, once it has ended."""
    start = time.perf_counter()
    taken: list[float] = []
    yield lambda: taken[0]
    taken.append(time.perf_counter() - start)


if __name__ == "__main__":
    print(table(run()))
