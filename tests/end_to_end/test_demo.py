"""`rag-probe demo` as a user runs it (must show 1)."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from rag_probe_demo.corpus import DATA

COMMAND = [sys.executable, "-P", "-c", "from rag_probe_collector.cli import main; main()", "demo"]
PLANTED: dict[str, dict[str, Any]] = json.loads((DATA / "planted.json").read_text(encoding="utf-8"))
CLEAN: dict[str, Any] = {"stage": "none", "mechanism": None, "violations": []}

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Ran:
    home: Path
    code: int
    printed: str
    said: str

    @property
    def out(self) -> Path:
        return self.home / "out"


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """Once, with everything kept, in an environment that would lead the traces astray."""
    home = tmp_path_factory.mktemp("demo")
    astray = {
        "OTEL_SDK_DISABLED": "true",
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:9",
        "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "true",
        "OTEL_TRACES_SAMPLER": "always_off",
        "LANGSMITH_TRACING": "true",
        "http_proxy": "http://127.0.0.1:9",
        "COLUMNS": "80",
    }
    with _started(home, "--out", "out", "--keep", **astray) as process:
        printed, said = process.communicate(timeout=400)
    return Ran(home, process.returncode, printed, said)


def test_it_exits_0_and_says_that_everything_was_found(ran: Ran) -> None:
    assert (ran.code, ran.said) == (0, ran.said)
    assert "26 of 26 cases as planted" in ran.printed


def test_the_report_names_the_planted_stage_of_every_case(ran: Ran) -> None:
    rows = json.loads((ran.out / "report.json").read_bytes())["cases"]
    assert len(rows) == 26
    for row in rows:
        fault = PLANTED.get(row["id"], CLEAN)
        assert (row["id"], row["broken_stage"], row["mechanism"]) == (row["id"], fault["stage"], fault["mechanism"])
        assert (row["id"], sorted(row["violations"])) == (row["id"], sorted(fault["violations"]))


def test_nothing_is_missing_from_the_report(ran: Ran) -> None:
    """Only a failed gate: no case without a result, no input that was not captured."""
    report = json.loads((ran.out / "report.json").read_bytes())
    assert (report["gate"], report["exit_code"]) == ("FAIL", 1)


def test_every_report_is_written_and_the_spool_kept(ran: Ran) -> None:
    assert {"demo.db", "report.json", "report.md", "report.html", "junit.xml", "paths.jsonl"} <= {
        file.name for file in ran.out.iterdir()
    }


def test_no_content_was_recorded(ran: Ran) -> None:
    """contracts 3: questions, passages and answers stay in the apps, though the environment asked for them."""
    texts = [chunk["text"] for chunk in json.loads((DATA / "corpus.json").read_bytes())["chunks"]]
    stored = b"".join(file.read_bytes() for file in ran.out.iterdir())
    assert not [text for text in texts if text.encode() in stored]
    for line in (ran.out / "paths.jsonl").read_text(encoding="utf-8").splitlines():
        path = json.loads(line)
        assert "question" not in path
        assert "text" not in path["answer"]


def test_both_apps_and_both_protocols_took_part(ran: Ran) -> None:
    paths = [json.loads(line) for line in (ran.out / "paths.jsonl").read_text(encoding="utf-8").splitlines()]
    assert {(path["service"], path["source"]) for path in paths} == {
        ("security-assistant", "langchain"),
        ("returns-assistant", "langgraph"),
    }
    assert {path["experiment"] for path in paths} == {"rag-probe-demo"}


def test_nothing_is_left_behind_where_nothing_is_to_be_kept(tmp_path: Path) -> None:
    with _started(tmp_path) as process:
        printed, said = process.communicate(timeout=400)
    assert process.returncode == 0, said
    assert "26 of 26 cases as planted" in printed
    assert _left(tmp_path) == []
    assert _family(tmp_path) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_takes_everything_along(tmp_path: Path, number: signal.Signals) -> None:
    with _started(tmp_path) as process:
        assert process.stderr is not None
        assert process.stderr.readline().startswith("collector ")
        assert _family(tmp_path)
        process.send_signal(number)
        _, said = process.communicate(timeout=300)
    assert process.returncode == 128 + number
    assert "Traceback" not in said
    assert _left(tmp_path) == []
    assert _family(tmp_path) == []


def test_a_place_that_cannot_be_used_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "out" / "demo.db").mkdir(parents=True)
    with _started(tmp_path, "--out", "out", "--keep") as process:
        _, said = process.communicate(timeout=300)
    assert process.returncode == 2
    assert said.startswith("rag-probe: demo: out/demo.db: ")
    assert said.count("\n") == 1


def test_a_model_that_is_not_to_be_had_is_one_line(tmp_path: Path) -> None:
    with _started(tmp_path, "--model", "nobody:nothing") as process:
        _, said = process.communicate(timeout=300)
    assert process.returncode == 2
    assert said.splitlines()[-1].startswith("rag-probe: demo: the security assistant did not run: nobody:nothing: ")
    assert "Traceback" not in said


@contextmanager
def _started(home: Path, *arguments: str, **environment: str) -> Generator[subprocess.Popen[str]]:
    """In a directory for temporary files of its own, by which its processes are known."""
    temporary = home / "tmp"
    temporary.mkdir()
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OTEL_", "RAG_PROBE_"))}
    with subprocess.Popen(
        [*COMMAND, *arguments],
        cwd=home,
        env=kept | {"TMPDIR": str(temporary)} | environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.terminate()


def _left(home: Path) -> list[str]:
    return [str(file) for file in home.rglob("*") if file != home / "tmp"]


def _family(home: Path) -> list[str]:
    """Command lines of running processes that stand in `home`."""
    return [line for line in _running() if str(home) in line]


def _running() -> Iterator[str]:
    for process in Path("/proc").glob("[0-9]*"):
        try:
            yield (process / "environ").read_text(errors="replace") + (process / "cmdline").read_text(errors="replace")
        except OSError:
            continue
