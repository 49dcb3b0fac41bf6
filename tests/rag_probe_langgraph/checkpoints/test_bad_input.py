"""What is no store, or cannot be read, is exit 2 and one line with the remedy (issue C, bad input)."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import mkdtemp

import pytest
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.sqlite import SqliteSaver

from rag_probe_collector.cli.main import main
from rag_probe_langgraph.checkpoints import sqlite
from tests.rag_probe_langgraph.graphs import checked

from .stores import database

NOBODY = 65534


@pytest.fixture(scope="module")
def good(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("good") / "good.db"
    with writing(path) as app:
        for thread in "abc":
            app.invoke({"question": "How long?"}, {"configurable": {"thread_id": thread}})
    return path


@contextmanager
def writing(path: Path) -> Iterator:
    with closing(sqlite3.connect(path, check_same_thread=False)) as connection:
        yield checked(checkpointer=SqliteSaver(connection))


@pytest.fixture
def refused(capsys):
    """Run `paths` on a location; it must end with 2 and one line."""

    def run(location: str | Path, *options: str) -> str:
        where = f"sqlite:///{location}" if isinstance(location, Path) else location
        with pytest.raises(SystemExit) as end:
            main(["paths", f"checkpoints:{where}", *options, "--json"])
        lines = [line for line in capsys.readouterr().err.splitlines() if "warning" not in line]
        assert (end.value.code, len(lines)) == (2, 1), lines
        return lines[0]

    return run


def count(path: Path, capsys) -> int:
    with pytest.raises(SystemExit) as end:
        main(["paths", f"checkpoints:sqlite:///{path}", "--json"])
    read = capsys.readouterr()
    assert end.value.code == 0, read.err
    return len(read.out.splitlines())


def test_what_is_no_store(tmp_path, refused):
    for name, content in (("text.db", b"hello, no database at all\n" * 40), ("empty.db", b"")):
        (tmp_path / name).write_bytes(content)
        assert "expected what langgraph-checkpoint-sqlite writes" in refused(tmp_path / name)
    with closing(sqlite3.connect(tmp_path / "other.db")) as other:
        other.execute("CREATE TABLE checkpoints (thread_id TEXT)")
    assert "the table checkpoints lacks" in refused(tmp_path / "other.db")
    assert "a directory" in refused(tmp_path)
    assert "no such file" in refused(tmp_path / "nosuch.db")


def test_a_truncated_file(tmp_path, good, refused):
    whole = good.read_bytes()
    for part in (3000, len(whole) // 2):
        (tmp_path / "cut.db").write_bytes(whole[:part])
        assert "damaged or cut off; copy it anew" in refused(tmp_path / "cut.db")


def test_a_locked_file(tmp_path, good, refused, monkeypatch):
    monkeypatch.setattr(sqlite, "_BUSY_S", 0.01)
    path = Path(shutil.copy(good, tmp_path / "locked.db"))
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("PRAGMA journal_mode=DELETE")
        other.execute("BEGIN EXCLUSIVE")
        assert "another process holds it; try again" in refused(path)


def test_a_database_that_is_being_written(tmp_path, good, capsys):
    path = Path(shutil.copy(good, tmp_path / "busy.db"))
    with writing(path) as app, closing(sqlite3.connect(path, isolation_level=None)) as other:
        app.invoke({"question": "Still in the -wal?"}, {"configurable": {"thread_id": "d"}})
        other.execute("BEGIN IMMEDIATE")
        other.execute("DELETE FROM checkpoints")
        assert count(path, capsys) == 4
        other.execute("ROLLBACK")


@contextmanager
def as_nobody() -> Iterator[None]:
    """Without a right to write, or to read what is closed; root has all of them."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    folder = Path(mkdtemp())
    folder.chmod(0o755)
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


@pytest.mark.skipif(not hasattr(os, "seteuid"), reason="no user ids here")
def test_a_file_that_may_only_be_read(open_folder, good, capsys):
    path = Path(shutil.copy(good, open_folder / "mine.db"))
    path.chmod(0o444)
    open_folder.chmod(0o555)
    with as_nobody():
        assert count(path, capsys) == 3
    assert [each.name for each in open_folder.iterdir()] == ["mine.db"]


@pytest.mark.skipif(not hasattr(os, "seteuid"), reason="no user ids here")
def test_a_file_that_may_not_be_read(open_folder, good, refused):
    path = Path(shutil.copy(good, open_folder / "closed.db"))
    path.chmod(0o000)
    with as_nobody():
        assert "check its permissions" in refused(path)


def test_a_mapping_that_names_no_channel(tmp_path, good, refused, capsys):
    mapping = tmp_path / "map.yaml"
    mapping.write_text("documnts: retrieved\n")
    said = refused(good, "--map", str(mapping))
    assert "names no channel of these checkpoints: 'documnts'; there are " in said
    assert "'passages'" in said
    mapping.write_text("documnts: retrieved\nquestion: question\n")
    with pytest.raises(SystemExit) as end:
        main(["paths", f"checkpoints:sqlite:///{good}", "--map", str(mapping)])
    assert end.value.code == 0
    assert "no question holds 'documnts'; there are" in capsys.readouterr().err


@pytest.mark.parametrize("location", ["mysql://u:secret@h/d", "sqlite:relative.db", "x", "http://h"])
def test_an_unknown_scheme(refused, location):
    said = refused(location)
    assert "expected checkpoints:sqlite:///FILE or checkpoints:postgresql://…" in said
    assert "secret" not in said


@pytest.mark.parametrize(
    "location",
    [
        "postgresql://u:secret@127.0.0.1:1/db",
        "postgresql://u@127.0.0.1:1/db?password=secret",
        "postgresql://u:1@secret@nohost.invalid/db",
        "postgresql://u:secret@[bad/db",
        "postgresql://u:se/secret@127.0.0.1:1/db",
        "postgresql://u:secret@127.0.0.1:1/db?nosuch=secret",
    ],
)
def test_a_server_that_is_not_there_and_no_password_is_printed(refused, location):
    said = refused(location)
    assert "cannot be opened" in said or "expected postgresql://user:password@host/database" in said
    assert "secret" not in said


@pytest.mark.xdist_group("postgres")
def test_a_database_of_another_kind_or_of_a_newer_version(refused):
    import psycopg

    location = database()
    assert "the table checkpoint_blobs, checkpoint_writes, checkpoints is missing" in refused(location)
    with PostgresSaver.from_conn_string(location) as saver:
        saver.setup()
    with psycopg.connect(location, autocommit=True) as connection:
        connection.execute("INSERT INTO checkpoint_migrations VALUES (4711)")
    assert "its schema is version 4711" in refused(location)


BLOCKED = """
import sys
sys.modules[{module!r}] = None
from rag_probe_collector.cli.main import main
main(["paths", {location!r}])
"""


@pytest.mark.parametrize(
    ("module", "location", "remedy"),
    [
        ("langgraph.checkpoint", "checkpoints:sqlite:///x.db", "pip install 'rag-probe-otel[langgraph]'"),
        ("psycopg", "checkpoints:postgresql://127.0.0.1:1/db", "pip install 'psycopg[binary]'"),
    ],
)
def test_a_package_that_is_missing_is_named_with_what_brings_it(module, location, remedy):
    program = BLOCKED.format(module=module, location=location)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1), done.stderr
    assert remedy in done.stderr


def test_a_report_names_its_source_without_a_password():
    from rag_probe_collector.sources.spec import without_password

    for spec in ("checkpoints:postgresql://u:secret@h/d", "checkpoints:postgresql://u:se/secret@h/d"):
        assert without_password(spec) == "checkpoints:postgresql://…@h/d"
    assert without_password("clickhouse://h/d?user=u&password=secret") == "clickhouse://h/d?user=u&password=…"
    assert without_password("otlp:a@b.json") == "otlp:a@b.json"
