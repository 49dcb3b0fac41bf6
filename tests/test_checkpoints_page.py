"""examples/langgraph_checkpoints: every command and snippet runs and shows what the page says (issue C, 4)."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Final, get_args

import pytest

from rag_probe_langgraph.checkpoints import Role
from tests.ports import reserved_port
from tests.rag_probe.programs import PATIENT
from tests.rag_probe_langgraph.checkpoints.stores import database

PAGE: Final = Path(__file__).parents[1] / "examples" / "langgraph_checkpoints" / "README.md"
TEXT: Final = PAGE.read_text(encoding="utf-8")
_BLOCK: Final = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_EXIT: Final = re.compile(r"# exit (\d)$", re.MULTILINE)


@pytest.fixture(scope="module")
def address() -> str:
    """A database with a thread in it."""
    from langgraph.checkpoint.postgres import PostgresSaver

    from tests.rag_probe_langgraph.graphs import checked

    address = database()
    with PostgresSaver.from_conn_string(address) as saver:
        saver.setup()
        checked(checkpointer=saver).invoke({"question": "q"}, {"configurable": {"thread_id": "t"}})
    return address


def run(kind: str, block: str, folder: Path, address: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OTEL_", "RAG_PROBE_"))}
    commands = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))  # as with the virtualenv entered
    env = kept | PATIENT | {"DATABASE_URL": address, "COLUMNS": "200", "PATH": commands}
    with reserved_port() as port:  # in place of the usual one, where something else may listen
        block = block.replace("rag-probe collect", f"rag-probe collect --grpc 127.0.0.1:0 --http 127.0.0.1:{port}")
        env |= {"OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{port}"}
        command: Any = ["bash", "-ec", block] if kind == "sh" else [sys.executable, "-W", "error", "-c", block]
        return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=300, check=False)


def words(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.slow
@pytest.mark.xdist_group("postgres")
def test_the_walk(tmp_path, address):
    shutil.copy(PAGE.parent / "app.py", tmp_path)
    shown = ""
    count = 0
    for kind, block in _BLOCK.findall(TEXT):
        if kind == "text":
            for line in block.splitlines():
                assert words(line) in shown, f"{line!r} is not in {shown}"
        elif not block.startswith("pip install"):
            done = run(kind, block, tmp_path, address)
            expected = _EXIT.search(block)
            assert done.returncode == int(expected[1] if expected else 0), (block, done.stdout, done.stderr)
            assert "Traceback" not in done.stderr
            shown = words(done.stdout + done.stderr)
            count += 1
    assert count == 17
    assert (tmp_path / "report" / "report.html").exists()


def test_the_page_lists_every_role():
    assert re.findall(r"^\| (\w+) \| ", TEXT.partition("| role |")[2].partition("\n## ")[0], re.MULTILINE) == list(
        get_args(Role)
    )


def test_its_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", TEXT):
        assert (PAGE.parent / target).exists(), target
