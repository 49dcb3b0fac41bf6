"""How a source is named, found and refused."""

from __future__ import annotations

import sqlite3
from importlib.metadata import EntryPoint

import pytest

from rag_probe.protocols import Selection, Source, SourceError
from rag_probe_collector import sources
from rag_probe_collector.sources import open_source, schemes
from rag_probe_collector.spool import SpoolWriter
from tests.rag_probe_collector.spans import request, workflow

BODY = request(workflow(1)).SerializeToString()


@pytest.fixture
def spool(tmp_path):
    path = tmp_path / "spool.db"
    with SpoolWriter(path) as writer:
        writer.write(BODY)
    return path


def test_a_bare_path_is_recognised_by_its_content(tmp_path, spool):
    (tmp_path / "traces.txt").write_bytes(BODY)
    (tmp_path / "results.txt").write_text('{"id":"c","retrieved_ids":[],"prompt_ids":[],"answer":"","citations":[]}\n')
    for name in ("spool.db", "traces.txt", "results.txt"):
        assert len(list(open_source(str(tmp_path / name)).paths(Selection()))) == 1


def test_every_scheme_opens_a_source(tmp_path, spool):
    (tmp_path / "traces").write_bytes(BODY)
    for spec in (f"spool:{spool}", f"otlp:{tmp_path}/traces", f"otlp:{tmp_path}/tr*"):
        opened = open_source(spec)
        assert isinstance(opened, Source)
        assert len(list(opened.paths(Selection()))) == 1


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("nosuch:x", "nosuch: unknown kind of source; expected a path or one of "),
        ("otlp:", "expected a location after the scheme"),
        ("otlp:/no/such/file", "/no/such/file: no such file"),
        ("/no/such/file", "/no/such/file: no such file"),
        ("spool:/no/such/file", "/no/such/file: no such file"),
    ],
)
def test_what_cannot_be_opened_is_one_line(spec, says):
    with pytest.raises(SourceError) as error:
        open_source(spec)
    assert says in str(error.value)
    assert "\n" not in str(error.value)


def test_a_known_scheme_that_is_not_installed_names_its_extra(monkeypatch):
    monkeypatch.setattr(sources, "entry_points", lambda group: ())
    with pytest.raises(SourceError, match=r"pip install 'rag-probe-otel\[langgraph\]'"):
        open_source("checkpoints:sqlite:///x.db")


def test_an_installed_package_adds_a_scheme(monkeypatch):
    value = "rag_probe_collector.sources.otlp:open_otlp"
    monkeypatch.setattr(sources, "entry_points", lambda group: (EntryPoint("mine", value, group),))
    assert "mine" in schemes()
    with pytest.raises(SourceError, match="no such file"):
        open_source("mine:/no/such/file")


def test_an_installed_package_that_lacks_one_of_its_own_says_so(monkeypatch):
    monkeypatch.setattr(sources, "entry_points", lambda group: (EntryPoint("mine", "no_such_module:open", group),))
    with pytest.raises(SourceError, match=r"mine: cannot be loaded \(No module named 'no_such_module'\)"):
        open_source("mine:x")


def test_another_sqlite_file_points_at_checkpoints(tmp_path):
    path = tmp_path / "other.db"
    sqlite3.connect(path).execute("CREATE TABLE t (x)").connection.close()
    with pytest.raises(SourceError, match="checkpoints:sqlite:///"):
        open_source(str(path))
