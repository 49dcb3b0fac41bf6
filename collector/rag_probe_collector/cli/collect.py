"""`rag-probe collect`: receive OTLP traces into a spool until told to stop."""

import json
import os
import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Final

import typer

from rag_probe_collector.errors import InputError
from rag_probe_collector.receiver import Address, Collector, Limits

READY_SCHEMA: Final = "rag-probe.ready/1"

_Db = Annotated[Path, typer.Option(help="The spool: one SQLite file, made when it is missing.")]
_Grpc = Annotated[str, typer.Option(metavar="HOST:PORT", help="Where OTLP/gRPC is received; port 0 takes a free one.")]
_Http = Annotated[str, typer.Option(metavar="HOST:PORT", help="Where OTLP/HTTP is received; port 0 takes a free one.")]
_Insecure = Annotated[bool, typer.Option("--insecure", help="Also listen where other machines can connect.")]
_ReadyFile = Annotated[Path | None, typer.Option(help="Written once both listen: JSON with their addresses.")]
_MaxRequest = Annotated[int, typer.Option(min=1, max=512, help="Largest request in MiB, also after decompression.")]


def collect(
    *,
    db: _Db = Path("rag-probe.db"),
    grpc: _Grpc = "127.0.0.1:4317",
    http: _Http = "127.0.0.1:4318",
    insecure: _Insecure = False,
    ready_file: _ReadyFile = None,
    max_request_mib: _MaxRequest = 64,
) -> None:
    """Receive OTLP traces and store them; each request is acknowledged once it is durable. Ctrl-C stops.

    Raises InputError when the file or an address cannot be used.
    """
    grpc_address = _allowed("--grpc", grpc, insecure=insecure)
    http_address = _allowed("--http", http, insecure=insecure)
    limits = Limits(request_bytes=max_request_mib << 20)
    if ready_file:
        ready_file.unlink(missing_ok=True)  # a parent must not read what an earlier run left
    with _stop_signal() as stop, Collector(db, grpc=grpc_address, http=http_address, limits=limits) as collector:
        typer.echo(f"listening  otlp/grpc {collector.grpc_address}", err=True)
        typer.echo(f"listening  otlp/http {collector.http_address}", err=True)
        typer.echo(f"send with  OTEL_EXPORTER_OTLP_ENDPOINT=http://{collector.http_address}", err=True)
        if ready_file:
            _tell_ready(ready_file, db, collector)
        stop.wait()
    typer.echo(f"stopped    all that was received is in {db}", err=True)


def _allowed(option: str, text: str, *, insecure: bool) -> Address:
    address = Address.parse(text)
    if not (insecure or address.is_loopback):
        raise InputError(
            f"{option} {text}: other machines could connect, and there is no TLS and no token yet;"
            " listen on 127.0.0.1, or add --insecure where the network can be trusted"
        )
    return address


@contextmanager
def _stop_signal() -> Generator[threading.Event]:
    """Yield what is set by the first SIGINT or SIGTERM; a second one ends the process at once."""
    stop = threading.Event()

    def on_signal(number: int, _: object) -> None:
        signal.signal(number, signal.SIG_DFL)
        stop.set()

    earlier = {number: signal.signal(number, on_signal) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in earlier.items():
            signal.signal(number, handler)


def _tell_ready(path: Path, db: Path, collector: Collector) -> None:
    """Write the file whole or not at all, so that whoever waits for it can read it as soon as it is there."""
    content = {
        "schema": READY_SCHEMA,
        "pid": os.getpid(),
        "db": str(db),
        "grpc": str(collector.grpc_address),
        "http": str(collector.http_address),
    }
    unfinished = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        unfinished.write_text(json.dumps(content) + "\n")
        unfinished.replace(path)
    except OSError as error:
        raise InputError(f"--ready-file {path}: cannot be written ({error.strerror})") from None
