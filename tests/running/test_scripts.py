"""A script that ends at once loses nothing, however it ends by itself (issue B: where people run it)."""

from __future__ import annotations

import signal
import socket
import sys
from itertools import product
from textwrap import dedent
from time import monotonic

import pytest

from .arrived import Arrived
from .programs import ran, started

pytestmark = pytest.mark.slow

ENDINGS = {
    "pass": 0,
    "sys.exit(3)": 3,
    "raise RuntimeError('theirs')": 1,
    "signal.raise_signal(signal.SIGINT)": -signal.SIGINT,
    "signal.signal(signal.SIGTERM, lambda *_: sys.exit(143)); signal.raise_signal(signal.SIGTERM)": 143,
    "telemetry.flush(100); os._exit(4)": 4,
    "telemetry.flush(100); ask('lost'); signal.raise_signal(signal.SIGTERM)": -signal.SIGTERM,
}
"""Ways in which a script ends. The last one loses what was not sent yet, as every program does that does not listen."""

SCRIPT = """
    import gc, os, signal, sys
    import opentelemetry.exporter.otlp.proto.http.trace_exporter
    from rag_probe import configure
    from tests.running.desk import ask

    def end(ending):
        telemetry = configure()
        ask(ending)
        exec(ending)

    # A process for each ending, which begins here: each has all to do, but only one has loaded LangChain.
    gc.freeze()  # else each takes a second to take it apart
    for ending in sys.argv[1:]:
        process = os.fork()
        if process == 0:
            end(ending)
            sys.exit()
        print(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), ending)
"""


def test_everything_is_sent_at_its_end(arrived: Arrived) -> None:
    said = ran(SCRIPT, arrived.environment(), *ENDINGS)
    assert {f"{code} {ending}" for ending, code in ENDINGS.items()} <= set(said.splitlines())
    arrived.assert_answered(ENDINGS)
    assert "rag_probe" not in said


def test_a_question_that_is_interrupted_is_sent_as_far_as_it_came(arrived: Arrived) -> None:
    program = """
        import signal
        from langchain_core.runnables import RunnableLambda
        from rag_probe import configure
        from tests.rag_probe_langchain.apps import rag
        from tests.running.desk import CONFIG
        configure()
        rag(steps=RunnableLambda(lambda found: signal.raise_signal(signal.SIGINT))).invoke("How long?", CONFIG)
    """
    ran(program, arrived.environment(), code=-signal.SIGINT)
    (path,) = arrived.paths()
    assert path.retrieved is not None
    assert arrived.names() == ["invoke_workflow returns desk", "retrieval"]


MANY = """
    from rag_probe import configure
    configure()
    from opentelemetry import trace
    for number in range(2_000):
        trace.get_tracer("app").start_span(f"span {number}").end()
    from time import monotonic
    print("worked on until", monotonic(), flush=True)
"""


ENDS = {
    "exit": ("", {}, 3),
    "told": ("configure(exit_timeout=5)", {}, 5),
    "variable": ("", {"OTEL_BSP_EXPORT_TIMEOUT": "5000"}, 5),
    "shutdown": ("configure().shutdown(5)", {}, 5),
    "metrics": ("", {"OTEL_METRICS_EXPORTER": "otlp"}, 3),
}


@pytest.mark.parametrize(
    ("down", "protocol", "end"),
    [
        *product(["refused", "silent"], ["http/protobuf", "grpc"], ["exit"]),
        *product(["silent"], ["http/protobuf"], [end for end in ENDS if end != "exit"]),
    ],
)
def test_an_endpoint_that_is_down_keeps_no_script(down: str, protocol: str, end: str) -> None:
    """Four batches wait, and each of them alone may take 600 s: however busy the machine is, that is told apart."""
    last, said, seconds = ENDS[end]
    with socket.create_server(("127.0.0.1", 0), backlog=64) as listener:
        port = listener.getsockname()[1] if down == "silent" else 9
        environ = {
            "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{port}",
            "OTEL_EXPORTER_OTLP_PROTOCOL": protocol,
            "OTEL_BSP_SCHEDULE_DELAY": "600000",
            "OTEL_EXPORTER_OTLP_TIMEOUT": "600",
            "OTEL_SERVICE_NAME": "desk",
            "no_proxy": "127.0.0.1",
            **said,
        }
        with started([sys.executable, "-c", dedent(MANY + f"    {last}")], environ) as program:
            since = float(program.said("worked on until").split()[-1])
            assert program.wait() == 0
            took = monotonic() - since
        assert (seconds if down == "silent" else 0) <= took < 100
        assert "Traceback" not in program.output
        assert "rag_probe" not in program.output
