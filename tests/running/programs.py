"""Programs as users write them: started, watched, and never left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from textwrap import dedent
from time import monotonic, sleep
from typing import IO, Protocol

ROOT = Path(__file__).parents[2]
PATIENCE = 300.0
_FOREIGN = ("OTEL_", "RAG_PROBE_", "LANGSMITH_", "LANGCHAIN_")


class Condition(Protocol):
    def __call__(self) -> object: ...


def until(condition: Condition, patience: float = PATIENCE) -> None:
    """Wait for something that will be so."""
    deadline = monotonic() + patience
    while not condition():
        assert monotonic() < deadline, "waited in vain"
        sleep(0.01)


class Program:
    """A running process that leads a group of its own."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.pid = process.pid
        self.lines: list[str] = []
        streams = (process.stdout, process.stderr)  # of one pipe, a log's line may stand in the midst of a printed one
        self._readers = [threading.Thread(target=self._read, args=[stream], daemon=True) for stream in streams]
        for reader in self._readers:
            reader.start()

    def _read(self, stream: IO[str]) -> None:
        for line in stream:
            self.lines.append(line.rstrip("\n"))

    def _read_out(self) -> None:
        for reader in self._readers:
            reader.join(PATIENCE)

    def said(self, text: str) -> str:
        """The first line that holds `text`, awaited; of stdout or stderr."""
        until(lambda: self._line(text) is not None or self.process.poll() is not None)
        if self.process.poll() is not None:
            self._read_out()
        line = self._line(text)
        assert line is not None, self.output
        return line

    def _line(self, text: str) -> str | None:
        return next((line for line in [*self.lines] if text in line), None)

    @property
    def output(self) -> str:
        return "\n".join(self.lines)

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def wait(self, patience: float = PATIENCE) -> int:
        """Its exit code."""
        code = self.process.wait(patience)
        self._read_out()
        return code


@contextmanager
def started(command: Sequence[str | Path], environ: Mapping[str, str]) -> Iterator[Program]:
    """A program in an environment without foreign settings; its whole group is ended at the end."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(_FOREIGN)}
    with subprocess.Popen(
        [str(part) for part in command],
        cwd=ROOT,
        env={**clean, "PYTHONUNBUFFERED": "1", **environ},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            yield Program(process)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def ran(program: str, environ: Mapping[str, str], *arguments: str, code: int = 0) -> str:
    """What a Python program said until it ended by itself."""
    with started([sys.executable, "-W", "error", "-c", dedent(program), *arguments], environ) as running:
        assert running.wait() == code, running.output
        return running.output
