"""docs/evaluation.md: every file is read, every command runs and shows what the page says (checklist 57, 60)."""

from __future__ import annotations

import dataclasses
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from rag_probe_collector.register.case import Case
from tests.rag_probe.programs import PATIENT

pytestmark = pytest.mark.slow

PAGE: Final = Path(__file__).parents[1] / "docs" / "evaluation.md"
TEXT: Final = PAGE.read_text(encoding="utf-8")
_BLOCK: Final = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_EXIT: Final = re.compile(r"# exit (\d)$", re.MULTILINE)


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OTEL_", "RAG_PROBE_"))}
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    env = kept | PATIENT | {"PATH": path, "COLUMNS": "200"}
    return subprocess.run(
        ["bash", "-ec", command], cwd=folder, env=env, capture_output=True, text=True, timeout=120, check=False
    )


def words(text: str) -> str:
    return " ".join(text.split())


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("evaluation")
    for kind, block in _BLOCK.findall(TEXT):
        if kind == "yaml":
            (folder / block.partition("\n")[0].removeprefix("# ")).write_text(block, encoding="utf-8")
    return folder


def test_the_walk(folder):
    shown = ""
    for kind, block in _BLOCK.findall(TEXT):
        if kind == "text":
            for line in block.splitlines():
                assert words(line) in shown, f"{line!r} is not in {shown}"
        elif kind == "sh":
            done = run(block, folder)
            expected = _EXIT.search(block)
            assert done.returncode == int(expected[1] if expected else 0), (block, done.stdout, done.stderr)
            shown = words(done.stdout + done.stderr)


def test_the_page_names_every_field_of_a_case():
    named = set(re.findall(r"\w+", TEXT.partition("| field |")[2].partition("\n\n")[0]))
    assert {field.name for field in dataclasses.fields(Case)} <= named
