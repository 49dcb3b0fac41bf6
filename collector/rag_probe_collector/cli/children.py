"""Child processes that never outlive the command that started them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Final

PATIENCE_S: Final = 30.0
"""How long a child may take to end after SIGTERM before its group is killed."""


class Child:
    """A Python program in a process group of its own; what it says on stderr goes to `log`."""

    def __init__(self, arguments: Sequence[str], log: Path, environment: Mapping[str, str] | None = None) -> None:
        self.log = log
        with log.open("wb") as errors:
            self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and our own arguments
                [sys.executable, "-u", *arguments],  # unbuffered: its last line is the last thing it said
                stdin=subprocess.DEVNULL,
                stdout=errors,
                stderr=errors,
                env=environment,
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        """Its process id, and that of its group."""
        return self._process.pid

    @property
    def ended(self) -> bool:
        """Whether the program is over."""
        return self._process.poll() is not None

    def wait(self) -> int:
        """The exit code, once it is over."""
        return self._process.wait()

    def stop(self) -> int:
        """Ask it and what it started to end, and make them when they do not; the exit code."""
        if not self.ended:
            self._signal(signal.SIGTERM)
            try:
                self._process.wait(PATIENCE_S)
            except subprocess.TimeoutExpired:
                self._signal(signal.SIGKILL)
            except BaseException:  # somebody is impatient, and must not leave it behind
                self._signal(signal.SIGKILL)
                raise
        return self._process.wait()

    def last_line(self) -> str:
        """The last thing that it said; it tells of the failure when there was one."""
        lines = self.log.read_text(encoding="utf-8", errors="replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "it said nothing")

    def _signal(self, number: int) -> None:
        with suppress(ProcessLookupError):  # it has ended in the meantime
            os.killpg(self._process.pid, number)


@contextmanager
def child(arguments: Sequence[str], log: Path, environment: Mapping[str, str] | None = None) -> Generator[Child]:
    """A child for the length of a block."""
    with ExitStack() as stack:
        with _undisturbed():
            started = Child(arguments, log, environment)
            stack.callback(started.stop)
        yield started


@contextmanager
def ending_cleanly() -> Generator[None]:
    """Let SIGTERM and SIGHUP unwind the block, so that what it started is stopped; exits 128 + signal."""

    def leave(number: int, _: FrameType | None) -> None:
        raise SystemExit(128 + number)

    with _handled_by(leave, (signal.SIGTERM, signal.SIGHUP)):
        yield


@contextmanager
def _undisturbed() -> Generator[None]:
    """Put signals off until the block is over: an exception in the midst of it would lose a child that has started."""
    arrived: list[int] = []

    def note(number: int, _: FrameType | None) -> None:
        arrived.append(number)

    with _handled_by(note, (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)):
        yield
    for number in arrived[:1]:
        signal.raise_signal(number)


@contextmanager
def _handled_by(handler: Callable[[int, FrameType | None], None], numbers: Iterable[int]) -> Generator[None]:
    before = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)
