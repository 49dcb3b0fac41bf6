"""Selection, order, mapping files, cases by thread, and what is said on the way (issue C; contracts 6)."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langgraph.checkpoint.sqlite import SqliteSaver

from rag_probe.path import EvidencePath
from rag_probe.protocols import Selection, SourceError, SourceOptions
from rag_probe_collector.cli.main import main
from rag_probe_langgraph.checkpoints.selecting import in_order
from rag_probe_langgraph.checkpoints.source import open_checkpoints
from tests.rag_probe_langgraph.graphs import checked


@pytest.fixture
def store(tmp_path) -> Path:
    path = tmp_path / "checkpoints.db"
    with closing(sqlite3.connect(path, check_same_thread=False)) as connection:
        app = checked(checkpointer=SqliteSaver(connection))
        for thread, case in (("b", "c-1"), ("a", "c-2"), ("c-3", None)):
            metadata = {} if case is None else {"rag.case.id": case, "rag.experiment.id": "e"}
            app.invoke({"question": "How long?"}, {"configurable": {"thread_id": thread}, "metadata": metadata})
    return path


def read(store: Path, mapping: Path | None = None, **selection) -> list[EvidencePath]:
    source = open_checkpoints(f"sqlite:///{store}", SourceOptions(mapping=mapping))
    return list(source.paths(Selection(**selection)))


def test_threads_come_in_the_order_of_their_starts(store):
    assert [path.thread_id for path in read(store)] == ["b", "a", "c-3"]


def test_selection(store):
    everything = read(store)
    second = everything[1].started_at
    assert [path.thread_id for path in read(store, since=second)] == ["a", "c-3"]
    assert [path.thread_id for path in read(store, until=second)] == ["b"]
    assert [path.thread_id for path in read(store, limit=1)] == ["b"]
    assert [path.thread_id for path in read(store, attributes={"rag.case.id": "c-2"})] == ["a"]
    assert read(store, service="x") == read(store, traces=("0" * 32,)) == read(store, limit=0) == []


@given(st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=3), max_size=6))
def test_order_whatever_the_threads(threads):
    starts = sorted(([*sorted(times)] for times in threads), key=lambda times: times[0])
    groups = [
        (times[0], [EvidencePath(path_id=f"{place}:{at}", trace_id="", started_at=at) for at in times])
        for place, times in enumerate(starts)
    ]
    found = [path.started_at for path in in_order(groups)]
    assert found == sorted(at for times in threads for at in times)


def test_a_mapping_says_how_channels_are_read(store, tmp_path, caplog):
    mapping = tmp_path / "map.yaml"
    mapping.write_text("question: question\npassages: retrieved\nanswer: answer\n")
    path = read(store, mapping)[0]
    assert [step.stage.name for step in path.retrievals] == ["retrieve", "filter"]
    assert path.filtered is None
    assert not caplog.messages


def test_without_one_the_reading_is_said(store, caplog):
    read(store)
    (said,) = caplog.messages
    assert "'passages': retrieved then filtered" in said
    assert "'answer': answer" in said


@pytest.mark.parametrize("content", ["", "[1]", "passages: nonsense", "passages: ignore", "passages: [", "\x00"])
def test_a_mapping_that_says_nothing_is_refused_in_one_line(store, tmp_path, content):
    mapping = tmp_path / "map.yaml"
    mapping.write_text(content)
    with pytest.raises(SourceError) as error:
        read(store, mapping)
    assert str(mapping) in str(error.value)
    assert "\n" not in str(error.value)


def test_a_thread_may_be_named_after_its_case(tmp_path, store, capsys):
    cases = tmp_path / "cases.yaml"
    cases.write_text(
        "- {id: c-3, segment: s, tenant: t, question: q, answerable: true, gold_ids: [returns],"
        " allowed_ids: [returns, sale, gift, staff, old]}\n"
    )
    with pytest.raises(SystemExit) as end:
        main(["score", f"checkpoints:sqlite:///{store}", "--cases", str(cases), "--experiment", ""])
    assert end.value.code in (1, 3, 4), capsys.readouterr()
