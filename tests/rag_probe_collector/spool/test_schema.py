"""The file: how it is recognised, who may read it, and what an older or newer release does with it (contracts 8)."""

import shutil
import sqlite3
import stat
from pathlib import Path

import pytest

from rag_probe_collector.spool import VERSION, SpoolError, SpoolReader, SpoolWriter, is_spool
from tests.otlp_batches import payload, span, spans_in

GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "a spool?.db"


def sql(path: Path, *statements: str) -> None:
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


def test_only_its_owner_may_read_it_nor_its_log(path):
    with SpoolWriter(path) as writer:
        writer.write(payload(span(1)))
        modes = {stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
        assert len(list(path.parent.iterdir())) == 3
        assert modes == {0o600}


def test_a_wider_mode_is_narrowed(path):
    SpoolWriter(path).close()
    path.chmod(0o644)
    SpoolWriter(path).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_it_is_recognised_by_content_from_the_first_moment_on(path):
    assert not is_spool(path)
    with SpoolWriter(path):
        assert is_spool(path)
    assert is_spool(path)


def test_an_empty_file_becomes_a_spool(path):
    path.touch()
    with SpoolWriter(path) as writer:
        writer.write(payload(span(1)))
    assert is_spool(path)


@pytest.mark.parametrize("open_it", [SpoolWriter, SpoolReader])
def test_a_newer_version_is_refused_with_both_versions_named(path, open_it):
    SpoolWriter(path).close()
    sql(path, f"PRAGMA user_version = {VERSION + 3}")
    before = path.read_bytes()
    with pytest.raises(
        SpoolError, match=rf"has spool version {VERSION + 3}, this release knows up to {VERSION}; upgrade"
    ):
        open_it(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("open_it", [SpoolWriter, SpoolReader])
@pytest.mark.parametrize("content", ["sqlite", "text"])
def test_a_foreign_file_is_refused_and_left_as_it_is(path, open_it, content):
    if content == "sqlite":
        sql(path, "CREATE TABLE checkpoints (thread_id TEXT)")
    else:
        path.write_text("# notes\n" * 200)
    path.chmod(0o644)
    before = path.read_bytes()
    with pytest.raises(SpoolError, match="spool"):
        open_it(path)
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (before, 0o644)


def test_a_missing_file_or_directory_is_one_line(path):
    with pytest.raises(SpoolError, match="no such file"):
        SpoolReader(path)
    with pytest.raises(SpoolError, match="cannot be made"):
        SpoolWriter(path / "below" / "nothing.db")


def test_a_spool_whose_making_was_cut_short_is_finished(path):
    SpoolWriter(path).close()
    sql(path, "PRAGMA user_version = 0", "DROP TABLE batch", "DROP TABLE request", "DROP TABLE trace")
    with SpoolWriter(path) as writer:
        writer.write(payload(span(1)))
    with SpoolReader(path) as reader:
        assert len(spans_in(reader.batches())) == 1


@pytest.mark.parametrize("version", range(1, VERSION + 1))
def test_every_released_version_is_read_and_written_by_this_one(path, version):
    shutil.copy(GOLDEN / f"spool-{version}.db", path)
    with SpoolWriter(path) as writer:
        writer.write(payload(span(3)))
    with SpoolReader(path) as reader:
        assert spans_in(reader.batches()) == [span(1, at=5, note="golden"), span(2, trace=2, at=6), span(3)]
