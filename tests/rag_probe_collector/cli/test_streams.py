"""Whatever the standard streams are, the exit code keeps its meaning and nothing is a traceback (contracts 6)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.rag_probe_collector.gate.suite import GOOD, good, write

PROGRAM = [sys.executable, "-c", "from rag_probe_collector.cli import main; main()"]
PIPE_CLOSED = 141


@pytest.fixture
def commands(tmp_path):
    """Commands that print by every way there is (typer, rich, bytes as JSON), and pass."""
    scored = write(tmp_path, *zip(good(), strict=True))
    source, register = scored[1], str(tmp_path / "cases.jsonl")
    return [
        ["--help"],
        ["--version"],
        ["metrics"],
        ["metrics", "--json"],
        scored,
        [*scored, "--json"],
        ["paths", source],
        ["paths", source, "--json"],
        ["cases", "check", register],
    ]


def started(arguments, **options):
    return subprocess.run([*PROGRAM, *arguments], check=False, timeout=300, **options)


def test_a_pipe_that_nobody_reads_is_never_a_failed_gate(commands):
    """As in `rag-probe score … | head -1` under `set -o pipefail`, where 1 would stop a release."""
    for arguments in commands:
        reading, writing = os.pipe()
        os.close(reading)
        try:
            done = started(arguments, stdout=writing, stderr=subprocess.PIPE)
        finally:
            os.close(writing)
        assert (done.returncode, b"Traceback" in done.stderr) == (PIPE_CLOSED, False), arguments


@pytest.mark.parametrize("closed", [">&-", "<&- >&- 2>&-"])
def test_a_closed_stream_leads_nowhere(commands, tmp_path, closed):
    """As cron and service managers start programs; no file that is written takes the stream's place."""
    for arguments in [*commands, [*commands[4], f"--out={tmp_path / 'out'}"]]:
        done = _in_shell(arguments, closed)
        assert (done.returncode, b"Traceback" in done.stderr) == (0, False), (arguments, done.stderr)
    report = json.loads((tmp_path / "out/report.json").read_bytes())
    assert report["gate"] == "PASS"
    assert _in_shell(["paths", "/no/such/file"], closed).returncode == 2


def _in_shell(arguments, redirections):
    line = f'exec "$0" "$@" {redirections}'
    return subprocess.run(["/bin/sh", "-c", line, *PROGRAM, *arguments], check=False, timeout=300, capture_output=True)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_what_cannot_be_written_is_exit_2(commands):
    with Path("/dev/full").open("wb") as full:
        for arguments in commands:
            done = started(arguments, stdout=full, stderr=subprocess.PIPE)
            assert (done.returncode, done.stderr.count(b"\n")) == (2, 1), (arguments, done.stderr)
        assert started(["paths", "/no/such/file"], stderr=full).returncode == 2


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_a_terminal_may_lack_characters(commands, encoding):
    """What it cannot show is escaped as in JSON."""
    for arguments in commands:
        done = started(arguments, capture_output=True, env={**os.environ, "PYTHONIOENCODING": encoding})
        assert done.returncode == 0, (arguments, done.stderr)


def test_json_says_the_same_in_every_encoding(tmp_path):
    case, result = {**GOOD["case"], "id": "é✓😀"}, {**GOOD["result"], "id": "é✓😀"}
    scored = [*write(tmp_path, [case], [result]), "--json"]
    for encoding in ("ascii", "cp1252", "utf-8"):
        done = started(scored, capture_output=True, env={**os.environ, "PYTHONIOENCODING": encoding})
        assert json.loads(done.stdout.decode(encoding))["cases"][0]["id"] == "é✓😀"
