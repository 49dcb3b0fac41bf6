"""What every test shares."""

import os
import signal
import sys
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

# How long an example takes on a shared machine with two cores tells of the neighbours, not of the code.
settings.register_profile("rag-probe", deadline=None, suppress_health_check=[HealthCheck.too_slow])
# A gate that draws other examples every time refuses what has nothing to do with a change.
settings.register_profile("gate", settings.get_profile("rag-probe"), derandomize=True)
settings.load_profile("rag-probe")

_FOREIGN = ("OTEL_", "LANGSMITH_", "LANGCHAIN_")


def pytest_configure() -> None:
    """Whoever starts the tests may have settings for telemetry, a proxy, or signals that are ignored."""
    for name in [name for name in os.environ if name.startswith(_FOREIGN)]:
        del os.environ[name]
    for name in ("no_proxy", "NO_PROXY"):
        os.environ[name] = ",".join(filter(None, [os.environ.get(name), "127.0.0.1,localhost"]))
    # Children inherit which ones are: under nohup, or in the background of a script, some are.
    for number, usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, usual)


@pytest.fixture(autouse=True)
def _nothing_waits() -> Iterator[None]:
    """The process remembers by their threads the questions that wait, and many tests name their threads alike."""
    yield
    pauses = sys.modules.get("rag_probe_langchain.pauses")
    if pauses is not None:
        pauses.clear()
