"""Small programs, run as an app would run, in an environment without any OTEL_* variable but those given."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

ROOT = Path(__file__).parents[2]
PATIENT = {
    "OTEL_BSP_SCHEDULE_DELAY": "600000",
    "OTEL_BSP_EXPORT_TIMEOUT": "100000",
    "OTEL_EXPORTER_OTLP_TIMEOUT": "100",
    "no_proxy": "127.0.0.1",
    "NO_PROXY": "127.0.0.1",
}
"""Spans are sent when a program flushes or ends, and however long a busy machine takes to receive them, it waits."""


def run(program, *, check=True, **environ):
    """The finished process; its stderr is text."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("OTEL_", "RAG_PROBE_"))}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", dedent(program)],
        env={**clean, **PATIENT, **environ},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert not check or done.returncode == 0, done.stderr
    return done
