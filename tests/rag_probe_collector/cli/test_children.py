"""A child never outlives its block, however the block ends, and says why it failed."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rag_probe_collector.cli.children import Child, child, ending_cleanly
from tests.processes import is_running

FOREVER = ["-c", "import time; print('up', flush=True); time.sleep(600)"]


def test_it_is_stopped_when_the_block_fails(tmp_path: Path) -> None:
    block = child(FOREVER, tmp_path / "log")
    started = block.__enter__()
    assert is_running(started.pid)
    assert not block.__exit__(KeyError, KeyError(), None)
    assert not is_running(started.pid)


def test_its_last_line_tells_why_it_ended(tmp_path: Path) -> None:
    with child(["-c", "print('first'); print(); raise SystemExit('no such place')"], tmp_path / "log") as started:
        assert started.wait() == 1
        assert started.ended
        assert started.last_line() == "no such place"
        assert started.stop() == 1


def test_silence_is_told_too(tmp_path: Path) -> None:
    with child(["-c", ""], tmp_path / "log") as started:
        started.wait()
        assert started.last_line() == "it said nothing"


def test_one_that_ignores_sigterm_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag_probe_collector.cli.children.PATIENCE_S", 0.05)
    assert _deaf(tmp_path).stop() == -signal.SIGKILL


def test_impatience_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started = _deaf(tmp_path)

    def interrupted(timeout: float) -> int:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(started._process, "wait", interrupted)
        with pytest.raises(KeyboardInterrupt):
            started.stop()
    assert started.wait() == -signal.SIGKILL


def _deaf(directory: Path) -> Child:
    up = directory / "up"
    program = f"""
import pathlib, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
pathlib.Path({str(up)!r}).touch()
time.sleep(600)
"""
    started = Child(["-c", program], directory / "log")
    _await(up)
    return started


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_parent_that_is_told_to_end_takes_it_along(tmp_path: Path, number: signal.Signals) -> None:
    told = tmp_path / "pid"
    parent = f"""
import pathlib
from rag_probe_collector.cli.children import child, ending_cleanly
with ending_cleanly(), child({FOREVER!r}, pathlib.Path({str(tmp_path / "log")!r})) as started:
    unfinished = pathlib.Path({str(told)!r} + ".new")
    unfinished.write_text(str(started.pid))
    unfinished.rename({str(told)!r})
    started.wait()
"""
    with subprocess.Popen([sys.executable, "-c", parent], stderr=subprocess.DEVNULL) as process:
        _await(told)
        process.send_signal(number)
        assert process.wait(100) in (128 + number, -number, 1)
    assert not is_running(int(told.read_text()))


def test_a_signal_in_the_midst_of_starting_waits_until_the_child_can_be_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = subprocess.Popen
    started: list[int] = []

    def disturbed(*args: object, **kwargs: object) -> object:
        process = start(*args, **kwargs)  # type: ignore[call-overload]
        started.append(process.pid)
        signal.raise_signal(signal.SIGINT)
        return process

    monkeypatch.setattr(subprocess, "Popen", disturbed)
    with pytest.raises(KeyboardInterrupt):
        child(FOREVER, tmp_path / "log").__enter__()
    assert not is_running(started[0])


def test_signal_handlers_are_put_back() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with ending_cleanly():
        assert signal.getsignal(signal.SIGTERM) is not before
    assert signal.getsignal(signal.SIGTERM) is before


def _await(path: Path) -> None:
    deadline = time.monotonic() + 100
    while not path.exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)
