"""Small programs, run as an app would run, in an environment without any OTEL_* variable but those given."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

ROOT = Path(__file__).parents[2]


def run(program, *, check=True, **environ):
    """The finished process; its stderr is text."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("OTEL_", "RAG_PROBE_"))}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", dedent(program)],
        env={**clean, **environ},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert not check or done.returncode == 0, done.stderr
    return done
