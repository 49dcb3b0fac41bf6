"""A function that is frozen between its calls: each flushes, and hears whether that worked (issue B)."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from rag_probe_collector.receiver import Address, Collector
from tests.ports import reserved_port

from .arrived import Arrived
from .programs import Program, started, until

pytestmark = pytest.mark.slow

FUNCTION = """
    import signal
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])  # in every thread that comes
    from rag_probe import configure
    from tests.running.desk import ask
    telemetry = configure()
    print("ready", flush=True)
    for number in range(4):
        signal.sigwait([signal.SIGUSR1])
        ask(f"call {number}")
        print(f"call {number}: {telemetry.flush(100)}", flush=True)
"""


def called(program: Program, number: int) -> str:
    """What the call said; the process stands still before and after it."""
    program.signal(signal.SIGCONT)
    program.signal(signal.SIGUSR1)
    said = program.said(f"call {number}: ")
    program.signal(signal.SIGSTOP)
    until(lambda: stands_still(program.pid))
    return said.partition(": ")[2]


def stands_still(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
@pytest.mark.parametrize("protocol", ["http/protobuf", "grpc"])
def test_each_call_flushes_and_says_the_truth(tmp_path: Path, protocol: str) -> None:
    """While it was frozen the collector has gone, with the connection, and come back."""
    with reserved_port() as grpc, reserved_port() as http:
        addresses = {"grpc": Address("127.0.0.1", grpc), "http": Address("127.0.0.1", http)}
        collector = Collector(tmp_path / "spool.db", **addresses)
        arrived = Arrived(tmp_path / "spool.db", collector)
        environ = {**arrived.environment(protocol), "OTEL_EXPORTER_OTLP_TIMEOUT": "12"}  # in vain it tries for 8 s
        with started([sys.executable, "-c", dedent(FUNCTION)], environ) as program:
            with collector:
                program.said("ready")
                assert called(program, 0) == "True"
                arrived.assert_answered(["call 0"])
            with Collector(arrived.spool, **addresses):
                assert called(program, 1) == "True"
                arrived.assert_answered(["call 0", "call 1"])
            assert called(program, 2) == "False"
            with Collector(arrived.spool, **addresses):
                assert called(program, 3) == "True"
                program.signal(signal.SIGCONT)
                assert program.wait() == 0
    arrived.assert_answered(["call 0", "call 1", "call 3"])
