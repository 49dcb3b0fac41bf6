"""The program itself: help, errors, pipes (contracts 6; checklist: one line, never a traceback)."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from rag_probe_collector.cli.main import main
from rag_probe_collector.cli.program import COMMANDS

PROGRAM = [sys.executable, "-c", "from rag_probe_collector.cli import main; main()"]


def run(capsys, *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as end:
        main(list(arguments))
    return end.value.code, *capsys.readouterr()


def test_help_lists_every_command_and_imports_none():
    code = """
import sys
from rag_probe_collector.cli import main
try:
    main(["--help"])
except SystemExit:
    print([name for name in ("rag_probe_collector.spool", "grpc", "pydantic", "rich.table") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300)
    for command in COMMANDS:
        assert command.name in done.stdout
    assert done.stdout.endswith("[]\n")


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_every_command_is_documented(capsys, command):
    assert command.help.endswith((".", "?"))
    code, out, err = run(capsys, command.name, "--help")
    assert code == 0, err
    assert command.help.split()[0] in out


def test_without_arguments_it_helps(capsys):
    code, out, _ = run(capsys)
    assert (code, "Commands:" in out) == (0, True)


def test_version(capsys):
    code, out, _ = run(capsys, "--version")
    assert code == 0
    assert out.startswith("rag-probe ")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("nosuch",), "No such command 'nosuch'"),
        (("paths",), "Missing argument 'SOURCE'"),
        (("paths", "/no/such/file"), "/no/such/file: no such file"),
        (("paths", "x", "--nosuch"), "No such option"),
        (("paths", "x", "--limit", "0"), "--limit"),
        (("paths", "x", "--limit", "9" * 30), "--limit"),
        (("nosuch",), "See rag-probe --help"),
        (("cases",), "Missing command. See rag-probe cases --help"),
        (("paths", "x", "--since", "yesterday"), "--since 'yesterday': expected a time"),
        (("paths", "/no/\x1b[31msuch"), "/no/ [31msuch: no such file"),
    ],
)
def test_unusable_input_is_one_line_and_exit_2(capsys, arguments, says):
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("rag-probe: ")
    assert says in err
    assert err.count("\n") == 1


def test_without_the_extra_it_says_what_to_install(tmp_path):
    (tmp_path / "typer.py").write_text("raise ModuleNotFoundError('No module named typer', name='typer')")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [*PROGRAM, "--help"], capture_output=True, text=True, env=environment, check=False, timeout=300
    )
    assert done.returncode == 2
    assert done.stderr == "rag-probe: needs typer; pip install 'rag-probe-otel[collector]'\n"


def test_without_what_a_command_needs_it_says_what_to_install(tmp_path):
    (tmp_path / "orjson.py").write_text("raise ModuleNotFoundError('No module named orjson', name='orjson')")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [*PROGRAM, "paths", "x"], capture_output=True, text=True, env=environment, check=False, timeout=300
    )
    assert done.returncode == 2
    assert done.stderr == "rag-probe: paths needs orjson; pip install 'rag-probe-otel[collector]'\n"
