"""A spool as a source: narrowed by its index, read while it grows."""

from __future__ import annotations

import pytest

from rag_probe.protocols import Selection, SourceError
from rag_probe.stages import Content, Root
from rag_probe_collector.sources import open_source
from rag_probe_collector.spool import SpoolWriter
from tests.rag_probe_collector.spans import MS, T0, request, trace_id, workflow

ASKED = Root(question=Content(length=3))


@pytest.fixture
def spool(tmp_path):
    path = tmp_path / "spool.db"
    with SpoolWriter(path) as writer:
        for trace in (3, 1, 2):
            body = request(workflow(1, ASKED, trace=trace, at=trace * 1000), workflow(1, ASKED, trace=9, at=5))
            writer.write(body.SerializeToString())
    return path


@pytest.mark.parametrize(
    ("selection", "expected"),
    [
        (Selection(), [9, 1, 2, 3]),
        (Selection(traces=(trace_id(2),)), [2]),
        (Selection(since=T0 + 1500 * MS), [2, 3]),
        (Selection(until=T0 + 1500 * MS), [9, 1]),
        (Selection(since=T0 + 1500 * MS, limit=1), [2]),
        (Selection(traces=(trace_id(77),)), []),
    ],
)
def test_selection(spool, selection, expected):
    found = open_source(f"spool:{spool}").paths(selection)
    assert [int(path.trace_id, 16) for path in found] == expected


def test_what_arrives_later_is_seen_by_the_next_look(spool):
    opened = open_source(f"spool:{spool}")
    assert len(list(opened.paths(Selection()))) == 4
    with SpoolWriter(spool) as writer:
        writer.write(request(workflow(1, ASKED, trace=50, at=9)).SerializeToString())
    assert len(list(opened.paths(Selection()))) == 5


def test_a_damaged_batch_is_one_line(spool):
    import sqlite3

    with sqlite3.connect(spool) as connection:
        connection.execute("UPDATE batch SET body = x'00' WHERE id = 2")
    connection.close()
    with pytest.raises(SourceError, match=r"spool\.db"):
        list(open_source(f"spool:{spool}").paths(Selection()))
