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
from typing import Protocol

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
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line.rstrip("\n"))

    def said(self, text: str) -> str:
        """The first line that holds `text`, awaited; stdout and stderr are one."""
        until(lambda: self._line(text) is not None or self.process.poll() is not None)
        self._reader.join(0 if self.process.poll() is None else PATIENCE)
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
        self._reader.join(PATIENCE)
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
        stderr=subprocess.STDOUT,
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
