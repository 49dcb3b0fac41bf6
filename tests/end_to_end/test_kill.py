"""Killed under load three times, the collector has lost no acknowledged span and doubled none (must show 3)."""

import gzip
import http.client
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import orjson
import pytest
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpExporter
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from rag_probe_collector.spool import SpoolReader
from tests.otlp_batches import spans_in
from tests.ports import reserved_port

pytestmark = pytest.mark.slow

COMMAND = "from rag_probe_collector.cli import main; main()"
PATIENCE = 300.0
SPANS_PER_BATCH = 20
BATCHES_BETWEEN_KILLS = 60

Batch = list[ReadableSpan]
SpanId = tuple[int, int]
Send = Callable[[Batch], bool]


class CollectorProcess:
    """`rag-probe collect` on one spool and the same ports, again and again."""

    def __init__(self, directory: Path, grpc: int, http: int) -> None:
        self.db = directory / "spool.db"
        self._ready = directory / "ready.json"
        self.addresses = {"grpc": f"127.0.0.1:{grpc}", "http": f"127.0.0.1:{http}"}
        self.start()

    def start(self) -> None:
        self._ready.unlink(missing_ok=True)
        listeners = [f"--{name}={self.addresses[name]}" for name in ("grpc", "http")]
        arguments = [f"--db={self.db}", f"--ready-file={self._ready}", *listeners]
        self._process = subprocess.Popen(
            [sys.executable, "-c", COMMAND, "collect", *arguments], stderr=subprocess.DEVNULL
        )
        deadline = time.monotonic() + PATIENCE
        while not self._ready.exists():
            assert self._process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.01)

    def end(self, number: signal.Signals) -> int:
        self._process.send_signal(number)  # does nothing once it has ended
        return self._process.wait(PATIENCE)


@dataclass
class Load:
    """Clients that send new spans all the time, and each batch again and again until it is acknowledged."""

    alive: threading.Event = field(default_factory=threading.Event)
    """Set while a collector runs; a client whose request failed waits for it."""
    changed: threading.Condition = field(default_factory=threading.Condition)
    acknowledged: list[frozenset[SpanId]] = field(default_factory=list[frozenset[SpanId]])
    retries: int = 0
    stopping: bool = False

    def run(self, send: Send) -> None:
        for batch in batches():
            if self.stopping:
                return
            while not send(batch):
                with self.changed:
                    self.retries += 1
                assert self.alive.wait(PATIENCE)
            with self.changed:
                self.acknowledged.append(frozenset((each.context.trace_id, each.context.span_id) for each in batch))
                self.changed.notify_all()

    def wait_for_more(self, count: int) -> None:
        with self.changed:
            enough = len(self.acknowledged) + count
            assert self.changed.wait_for(lambda: len(self.acknowledged) >= enough, PATIENCE)


def batches() -> Iterator[Batch]:
    tracer = TracerProvider(shutdown_on_exit=False).get_tracer("load")
    while True:
        spans = [
            tracer.start_span(f"step {index}", attributes={"text": "word " * 50}) for index in range(SPANS_PER_BATCH)
        ]
        for each in spans:
            each.end()
        yield [each for each in spans if isinstance(each, ReadableSpan)]


def through(exporter: SpanExporter, closing: ExitStack) -> Send:
    closing.callback(exporter.shutdown)
    return lambda batch: exporter.export(batch) is SpanExportResult.SUCCESS


def raw(address: str, encode: Callable[[Batch], bytes], closing: ExitStack, **headers: str) -> Send:
    """Post without any exporter, over a connection that is kept while it lasts."""
    connection = http.client.HTTPConnection(address, timeout=PATIENCE)
    closing.callback(connection.close)
    named = {name.replace("_", "-"): value for name, value in headers.items()}

    def send(batch: Batch) -> bool:
        try:
            connection.request("POST", "/v1/traces", encode(batch), named)
            response = connection.getresponse()
            response.read()
        except (OSError, http.client.HTTPException):
            connection.close()
            return False
        return response.status == 200

    return send


def protobuf(batch: Batch) -> bytes:
    return encode_spans(batch).SerializeToString()


def gzipped_json(batch: Batch) -> bytes:
    spans = [
        {
            "traceId": f"{each.context.trace_id:032x}",
            "spanId": f"{each.context.span_id:016X}",
            "name": each.name,
            "startTimeUnixNano": str(each.start_time),
            "endTimeUnixNano": each.end_time,
        }
        for each in batch
    ]
    return gzip.compress(orjson.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}), mtime=0)


def clients(addresses: dict[str, str], closing: ExitStack) -> list[Send]:
    grpc, http = addresses["grpc"], addresses["http"]
    return [
        through(GrpcExporter(endpoint=grpc, insecure=True, timeout=2), closing),
        through(GrpcExporter(endpoint=grpc, insecure=True, timeout=2), closing),
        through(HttpExporter(endpoint=f"http://{http}/v1/traces", timeout=2), closing),
        raw(http, protobuf, closing, Content_Type="application/x-protobuf"),
        raw(http, gzipped_json, closing, Content_Type="application/json", Content_Encoding="gzip"),
    ]


def stored(db: Path) -> Counter[SpanId]:
    with SpoolReader(db) as reader:
        found = spans_in(reader.batches())
    return Counter((int.from_bytes(each.trace_id), int.from_bytes(each.span_id)) for each in found)


def test_every_acknowledged_span_is_stored_exactly_once(tmp_path):
    load = Load()
    load.alive.set()
    with ExitStack() as closing:
        collector = CollectorProcess(tmp_path, *(closing.enter_context(reserved_port()) for _ in range(2)))
        closing.callback(collector.end, signal.SIGKILL)
        threads = [threading.Thread(target=load.run, args=(send,)) for send in clients(collector.addresses, closing)]
        for thread in threads:
            thread.start()
        for _ in range(3):
            load.wait_for_more(BATCHES_BETWEEN_KILLS)
            load.alive.clear()
            assert collector.end(signal.SIGKILL) == -signal.SIGKILL
            collector.start()
            load.alive.set()
        load.wait_for_more(BATCHES_BETWEEN_KILLS)
        load.stopping = True
        for thread in threads:
            thread.join(PATIENCE)
        assert collector.end(signal.SIGTERM) == 0

    found = stored(collector.db)
    assert load.retries > 0
    assert set(found) >= set().union(*load.acknowledged)
    assert set(found.values()) == {1}
