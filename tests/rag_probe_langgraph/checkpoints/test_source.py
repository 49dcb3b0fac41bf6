"""A graph's store is enough to rebuild its evidence paths (issue C; checklist 170)."""

from __future__ import annotations

import hashlib
import sqlite3
from contextlib import closing

import pytest
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command

from rag_probe.protocols import Selection, SourceError, SourceOptions
from rag_probe_langgraph.checkpoints.source import open_checkpoints
from tests.rag_probe_langchain.apps import ANSWER
from tests.rag_probe_langgraph.graphs import State, approve, draft, retrieve


def graph(saver):
    built = StateGraph(State)
    built.add_sequence([retrieve, draft, approve])
    built.add_edge(START, "retrieve")
    built.add_edge("approve", END)
    return built.compile(checkpointer=saver)


def paths(path):
    return list(open_checkpoints(f"sqlite:///{path}", SourceOptions()).paths(Selection()))


@pytest.fixture
def store(tmp_path):
    path = tmp_path / "checkpoints.db"
    with closing(sqlite3.connect(path, check_same_thread=False)) as connection:
        app = graph(SqliteSaver(connection))
        config = {"configurable": {"thread_id": "t"}, "metadata": {"rag.case.id": "c1"}}
        app.invoke({"question": "How long?"}, config)
        app.invoke(Command(resume=True), config)
    return path


def test_a_paused_and_resumed_question_is_one_path(store):
    (path,) = paths(store)
    assert (path.thread_id, path.tags.case_id, path.question.length) == ("t", "c1", 9)
    assert path.retrieved.ids == ("returns", "sale", "gift", "staff", "old")
    assert path.answer.content.length == len(ANSWER)
    assert (path.context, path.citations) == (None, None)  # no channel holds the prompt that [2] counts in
    assert {"context", "citations"} <= set(path.not_captured)
    outcomes = [(step.stage.name, step.stage.outcome) for step in path.nodes]
    assert outcomes == [("retrieve", "ok"), ("draft", "ok"), ("approve", "answered")]


def test_the_file_has_the_same_bytes_afterwards(store):
    before = hashlib.sha256(store.read_bytes()).digest()
    paths(store)
    assert hashlib.sha256(store.read_bytes()).digest() == before


def test_what_is_no_store_is_said_in_one_line(tmp_path):
    for name, content in (("missing.db", None), ("text.db", b"hello"), ("other.db", b"")):
        path = tmp_path / name
        if content is not None:
            path.write_bytes(content)
        with pytest.raises(SourceError) as error:
            paths(path)
        assert str(path) in str(error.value)
        assert "\n" not in str(error.value)
