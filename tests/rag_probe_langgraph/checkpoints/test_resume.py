"""A reading that was stopped goes on, and gives what one whole reading gives (issue C: progress bar, resume)."""

from __future__ import annotations

import os
import pty
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, TypedDict

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt

from rag_probe_collector.cli.main import main

THREADS = 8
KILLED = """
import os, signal
from rag_probe_langgraph.checkpoints.sqlite import SqliteStore
from rag_probe_collector.cli.main import main
read = SqliteStore.saved
def saved(self, thread, channels):
    if thread == "5":
        os.kill(os.getpid(), signal.SIGKILL)
    return read(self, thread, channels)
SqliteStore.saved = saved
main()
"""


class State(TypedDict, total=False):
    question: str
    answer: str


def graph(saver: Any) -> Any:
    built = StateGraph(State)
    built.add_node("draft", lambda state: {"answer": f"To {state['question']}"})
    built.add_node("approve", lambda state: {"answer": interrupt("Shall I?")} if "?" in state["question"] else {})
    built.add_edge(START, "draft")
    built.add_edge("draft", "approve")
    built.add_edge("approve", END)
    return built.compile(checkpointer=saver)


@contextmanager
def writing(path: Path) -> Iterator[Any]:
    with closing(sqlite3.connect(path, check_same_thread=False)) as connection:
        yield graph(SqliteSaver(connection))


def ask(app: Any, thread: str, question: object) -> None:
    app.invoke(question, {"configurable": {"thread_id": thread}})


@pytest.fixture(scope="module")
def filled(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("filled") / "checkpoints.db"
    with writing(path) as app:
        for thread in range(THREADS):
            ask(app, str(thread), {"question": f"q{thread}"})
        ask(app, "2", {"question": "again"})
        ask(app, "3", {"question": "waits?"})
    return path


@pytest.fixture(scope="module")
def finished(filled, tmp_path_factory) -> bytes:
    file = tmp_path_factory.mktemp("finished") / "paths.jsonl"
    assert run(f"checkpoints:sqlite:///{filled}", "--resume", file) == 0
    return file.read_bytes()


@pytest.fixture
def store(filled, tmp_path) -> Path:
    return Path(shutil.copy(filled, tmp_path / "checkpoints.db"))


def run(*arguments: object) -> int:
    with pytest.raises(SystemExit) as end:
        main(["paths", *map(str, arguments)])
    assert isinstance(end.value.code, int)
    return end.value.code


def resumed(store: Path, file: Path, capsys) -> str:
    """What is said of it; nothing goes to stdout."""
    capsys.readouterr()
    assert run(f"checkpoints:sqlite:///{store}", "--json", "--resume", file) == 0
    said = capsys.readouterr()
    assert said.out == ""
    return said.err.splitlines()[-1]


def whole(store: Path, capsys) -> list[str]:
    capsys.readouterr()
    assert run(f"checkpoints:sqlite:///{store}", "--json") == 0
    return sorted(capsys.readouterr().out.splitlines())


def lines(file: Path) -> list[str]:
    return sorted(file.read_text().splitlines())


def test_a_reading_that_was_killed_goes_on_where_it_was(store, tmp_path, capsys):
    file = tmp_path / "paths.jsonl"
    arguments = ["paths", f"checkpoints:sqlite:///{store}", "--json", "--resume", str(file)]
    killed = subprocess.run([sys.executable, "-c", KILLED, *arguments], capture_output=True, check=False)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert len(lines(file)) == 7  # threads 0 to 4, of which 2 and 3 hold two questions
    assert resumed(store, file, capsys) == f"10 questions in {file}, 4 of them from before"  # not 3: it waits; not 4
    assert lines(file) == whole(store, capsys)


def test_what_is_there_is_not_read_again(store, tmp_path, capsys, monkeypatch):
    from rag_probe_langgraph.checkpoints.sqlite import SqliteStore

    file = tmp_path / "paths.jsonl"
    resumed(store, file, capsys)
    read: list[str] = []
    saved = SqliteStore.saved
    monkeypatch.setattr(
        SqliteStore, "saved", lambda self, thread, channels: read.append(thread) or saved(self, thread, channels)
    )
    resumed(store, file, capsys)
    assert read == ["3", "7"]  # the one that waits, and the last, which might have been cut
    assert lines(file) == whole(store, capsys)


def test_a_thread_that_grew_or_went_on_takes_the_place_of_what_it_was(store, tmp_path, capsys):
    file = tmp_path / "paths.jsonl"
    resumed(store, file, capsys)
    with writing(store) as app:
        ask(app, "1", {"question": "more"})
        ask(app, "3", Command(resume="yes"))
        app.checkpointer.delete_thread("6")
    assert resumed(store, file, capsys) == f"10 questions in {file}, 5 of them from before"
    assert lines(file) == whole(store, capsys)


@settings(
    deadline=None, max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(share=st.floats(0, 1))
def test_wherever_the_file_was_cut(filled, finished, tmp_path, capsys, share):
    file = tmp_path / "paths.jsonl"
    file.write_bytes(finished[: int(len(finished) * share)])
    resumed(filled, file, capsys)
    assert lines(file) == sorted(finished.decode().splitlines())


@pytest.mark.parametrize("content", ["hello", "{}\n", '{"schema":"rag-probe.path/1","path_id":"a"}\n', "\n"])
def test_another_file_is_refused_and_left_alone(store, tmp_path, capsys, content):
    file = tmp_path / "mine.txt"
    file.write_text(content)
    assert run(f"checkpoints:sqlite:///{store}", "--resume", file) == 2
    assert "give a new file to --resume" in capsys.readouterr().err
    assert file.read_text() == content


def test_what_cannot_be_resumed_is_said(store, tmp_path, capsys):
    (tmp_path / "results.jsonl").write_text(
        '{"id":"a","retrieved_ids":[],"prompt_ids":[],"answer":"x","citations":[]}\n'
    )
    assert run(f"results:{tmp_path / 'results.jsonl'}", "--resume", tmp_path / "r") == 2
    assert "--resume: only for checkpoints" in capsys.readouterr().err
    assert run(f"checkpoints:sqlite:///{store}", "--resume", tmp_path / "r", "--limit", "1") == 2
    assert "leave --limit out" in capsys.readouterr().err


def on_a_terminal(monkeypatch, *arguments: object) -> str:
    """What a person sees on stderr; stdout is none."""
    ours, theirs = pty.openpty()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    with ThreadPoolExecutor() as person:
        seen = person.submit(_read, ours)
        with os.fdopen(theirs, "w") as terminal, monkeypatch.context() as patched:
            patched.setattr(sys, "stderr", terminal)
            assert run(*arguments) == 0
        return seen.result(timeout=300)


def _read(terminal: int) -> str:
    found = b""
    with open(terminal, "rb", buffering=0) as opened:
        try:
            while more := opened.read(65536):
                found += more
        except OSError:  # the other side is closed
            pass
    return found.decode()


def test_a_person_sees_how_far_it_is_and_a_file_nothing_of_it(store, tmp_path, capsys, monkeypatch):
    source = f"checkpoints:sqlite:///{store}"
    expected = whole(store, capsys)
    assert f"{THREADS}/{THREADS}" in on_a_terminal(monkeypatch, source, "--json")
    assert sorted(capsys.readouterr().out.splitlines()) == expected
    for more in ([], ["--resume", tmp_path / "paths.jsonl"]):
        assert f"{THREADS}/{THREADS}" in on_a_terminal(monkeypatch, source, *more), more
    assert run(source) == run(source, "--resume", tmp_path / "other.jsonl") == 0
    assert "threads" not in capsys.readouterr().err
