"""`rag-probe collect`: says where it listens, stops gracefully, refuses what it should (contracts 6 and 8)."""

import http.client
import json
import signal
import socket
import subprocess
import sys
import time

import pytest

from rag_probe_collector.cli.collect import collect
from rag_probe_collector.errors import InputError
from rag_probe_collector.receiver import Address
from rag_probe_collector.spool import SpoolReader, is_spool
from tests.otlp_batches import payload, span, spans_in

COMMAND = "from rag_probe_collector.cli import main; main()"


def loopback() -> str:
    """That of IPv6, where this system has one."""
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return "127.0.0.1"
    return "::1"


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_tells_where_it_listens_and_stops_with_everything_stored(tmp_path, number):
    db, ready = tmp_path / "spool.db", tmp_path / "ready.json"
    ready.write_text("left by an earlier run")
    arguments = [f"--db={db}", f"--ready-file={ready}", "--grpc=127.0.0.1:0", f"--http={Address(loopback(), 0)}"]
    process = subprocess.Popen(
        [sys.executable, "-c", COMMAND, "collect", *arguments], stderr=subprocess.PIPE, text=True
    )
    lines = [process.stderr.readline() for _ in range(3)]
    deadline = time.monotonic() + 100
    while not (ready.exists() and ready.read_text().startswith("{")):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    told = json.loads(ready.read_text())
    assert lines == [
        f"listening  otlp/grpc {told['grpc']}\n",
        f"listening  otlp/http {told['http']}\n",
        f"send with  OTEL_EXPORTER_OTLP_ENDPOINT=http://{told['http']}\n",
    ]
    assert (told["schema"], told["pid"], told["db"]) == ("rag-probe.ready/1", process.pid, str(db))

    connection = http.client.HTTPConnection(loopback(), Address.parse(told["http"]).port, timeout=100)
    connection.request("POST", "/v1/traces", payload(span(1)), {"Content-Type": "application/x-protobuf"})
    assert connection.getresponse().status == 200
    process.send_signal(number)
    _, rest = process.communicate(timeout=100)
    connection.close()
    assert process.returncode == 0
    assert rest == f"stopped    all that was received is in {db}\n"
    with SpoolReader(db) as reader:
        assert spans_in(reader.batches()) == [span(1)]


@pytest.mark.parametrize("option", ["grpc", "http"])
@pytest.mark.parametrize("address", ["0.0.0.0:0", "[::]:0", "collector.example:4317"])
def test_an_address_that_others_can_reach_needs_the_word_insecure(tmp_path, option, address):
    db = tmp_path / "spool.db"
    with pytest.raises(InputError, match=r"no TLS and no token yet; .* --insecure"):
        collect(db=db, **{"grpc": "127.0.0.1:0", "http": "127.0.0.1:0", option: address})
    assert not is_spool(db)


@pytest.mark.parametrize("option", ["grpc", "http"])
def test_an_address_in_use_is_one_line(tmp_path, option, capfd):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(InputError, match=rf"otlp/{option} on {address} \(Address already in use\)"):
            collect(db=tmp_path / "spool.db", **{"grpc": "127.0.0.1:0", "http": "127.0.0.1:0", option: address})
    assert capfd.readouterr().err == ""


def test_a_spool_that_cannot_be_opened_is_one_line(tmp_path):
    notes = tmp_path / "notes.txt"
    notes.write_text("these are my notes, not a spool\n" * 20)
    with pytest.raises(InputError, match=r"notes\.txt"):
        collect(db=notes, grpc="127.0.0.1:0", http="127.0.0.1:0")
    assert notes.read_text().startswith("these")


def test_a_ready_file_that_cannot_be_written_is_one_line(tmp_path):
    ready = tmp_path / "missing" / "ready.json"
    with pytest.raises(InputError, match=r"--ready-file .* cannot be written \(No such file"):
        collect(db=tmp_path / "spool.db", grpc="127.0.0.1:0", http="127.0.0.1:0", ready_file=ready)
