"""What every test shares."""

import signal

from hypothesis import settings

# A deadline on a shared machine with two cores says something about the neighbours, not about the code.
settings.register_profile("rag-probe", deadline=None)
settings.load_profile("rag-probe")


def pytest_configure() -> None:
    """Children inherit which signals are ignored: under nohup, or in the background of a script, some are."""
    for number, usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, usual)
