"""A name in a mapping that is no channel is told before anything is read (issue C, bad input)."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, TypedDict

import pytest
from langchain_core.documents import Document
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, StateGraph

from rag_probe.policy import CapturePolicy
from rag_probe.protocols import Selection, SourceError
from rag_probe_collector.cli.main import main
from rag_probe_collector.sources.joined import JoinedSource
from rag_probe_langgraph.checkpoints import of_saver, open_checkpoints
from tests.rag_probe_langchain.apps import passages

from .stores import Kept, kept
from .test_unread import Xor

ALL = Selection()
ON = CapturePolicy(content=True)


class State(TypedDict, total=False):
    question: str
    documents: list[Document]
    late: str


def graph(saver: Any) -> Any:
    """The channel `late` is written for the question "late" alone."""
    built = StateGraph(State)
    built.add_node("retrieve", lambda state: {"documents": passages("sale")})
    built.add_node("draft", lambda state: {"late": "Yes."} if state["question"] == "late" else {})
    built.add_edge(START, "retrieve")
    built.add_edge("retrieve", "draft")
    return built.compile(checkpointer=saver)


def ask(saver: Any, *questions: str, **options: Any) -> None:
    app = graph(saver)
    for number, question in enumerate(questions):
        app.invoke({"question": question}, {"configurable": {"thread_id": f"{number:03}"}}, **options)


def source(store: Kept, **roles: Any) -> Any:
    if store.location is None:
        return of_saver(store.saver, policy=ON, roles=roles)
    return open_checkpoints(store.location, policy=ON, roles=roles)


@pytest.fixture
def reads(monkeypatch) -> list[str]:
    """The threads that were read."""
    from rag_probe_langgraph.checkpoints.sqlite import SqliteStore

    read, saved = list[str](), SqliteStore.saved
    monkeypatch.setattr(
        SqliteStore, "saved", lambda self, thread, *rest: read.append(thread) or saved(self, thread, *rest)
    )
    return read


@pytest.mark.parametrize("durability", ["sync", "exit"])
@pytest.mark.parametrize("kind", ["memory", "sqlite", "postgresql"])
@pytest.mark.xdist_group("postgres")
def test_it_is_refused_before_anything_is_read_where_that_is_certain(kind, durability, tmp_path, reads, caplog):
    with kept(kind, tmp_path) as store:
        ask(store.saver, "a", "b", durability=durability)
        for selection in (ALL, Selection(limit=1)):
            with pytest.raises(
                SourceError, match=r"no channel of these checkpoints: 'documnts' \(did you mean 'documents'"
            ):
                list(source(store, documnts="retrieved").paths(selection))
        assert reads == []
        some = source(store, documnts="retrieved", question="question").paths(Selection(limit=1))
        assert next(some).question.text == "a"
        (said,) = [message for message in caplog.messages if "--map" in message]
        assert "no question holds 'documnts' (did you mean 'documents'?); there are 'documents', 'question'" in said


def test_a_channel_that_appears_late_is_no_mistake(tmp_path, caplog):
    with kept("sqlite", tmp_path) as store:
        ask(store.saver, *["q"] * 11, "late", *["q"] * 11)
        paths = list(source(store, late="answer").paths(ALL))
        assert [path.answer is not None and path.answer.content is not None for path in paths].index(True) == 11
        (said,) = [message for message in caplog.messages if "--map" in message]
        assert "none of the 20 threads looked at has 'late'; there are 'documents', 'question'" in said
        caplog.clear()
        (path,) = source(store, late="answer").paths(Selection(limit=1))
        assert path.answer is None
        assert "none of the 20 threads" in caplog.text
        with pytest.raises(SourceError, match="names no channel of these checkpoints: 'lat'"):
            list(source(store, lat="answer").paths(ALL))


def test_silence_in_a_channel_that_nobody_has_seen_is_no_abstention(tmp_path):
    with kept("sqlite", tmp_path) as store:
        ask(store.saver, "q")
        (path,) = source(store, late="answer", question="question").paths(ALL)
        assert path.answer is None
        assert "answer" in path.not_captured
        ask(store.saver, "q", "late")
        first, *_ = source(store, late="answer", question="question").paths(ALL)
        assert first.answer.outcome == "abstained"


def test_the_newest_threads_are_looked_at_too(tmp_path, caplog):
    with kept("sqlite", tmp_path) as store:
        ask(store.saver, *["q"] * 30, "late")
        list(source(store, late="answer", question="question").paths(Selection(limit=1)))
    assert "--map" not in caplog.text


def test_what_is_closed_is_not_called_missing(tmp_path, caplog):
    path = tmp_path / "checkpoints.db"
    with closing(sqlite3.connect(path, check_same_thread=False)) as connection:
        ask(SqliteSaver(connection, serde=EncryptedSerializer(Xor(7))), "a", "b")
        (first, _) = open_checkpoints(f"sqlite:///{path}", roles={"documents": "retrieved"}).paths(ALL)
        assert "'documents' stays closed: encrypted (xor)" in first.warnings
        connection.execute("DELETE FROM writes")  # nothing is left that says which channels there are
        connection.commit()
    list(open_checkpoints(f"sqlite:///{path}", roles={"documents": "retrieved"}).paths(ALL))
    assert "--map" not in caplog.text


def test_it_is_told_before_the_traces_are_read(tmp_path):
    class Traces:
        def paths(self, selection: Selection) -> Iterator[Any]:
            raise AssertionError("read too early")

    with kept("sqlite", tmp_path) as store:
        ask(store.saver, "a")
        with pytest.raises(SourceError, match="documnts"):
            list(JoinedSource(source(store, documnts="retrieved"), Traces()).paths(ALL))


def test_a_role_that_there_is_none_of(tmp_path):
    for call in (
        lambda: of_saver(InMemorySaver(), roles={"a": "retreived"}),
        lambda: open_checkpoints("x", roles={"a": "retreived"}),
    ):
        with pytest.raises(SourceError, match=r"a: expected one of question, .*, found 'retreived'"):
            call()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("documents: retreived\n", "documents: expected one of question"),
        ("on: verdict\n", "True is no name of a channel; write it in quotes"),
        ("1: verdict\n", "1 is no name of a channel; write it in quotes"),
        ("documents: [retrieved]\n", "documents: expected one of question"),
        ("documents:\n", "documents: expected one of question"),
        ("- documents\n", "expected lines like `documents: retrieved`"),
        ("documents: ignore\n", "names no channel to read"),
    ],
)
def test_a_file_that_is_no_mapping(tmp_path, capsys, text, said):
    """Told although there is no store: it is looked at first."""
    mapping = Path(tmp_path / "map.yaml")
    mapping.write_text(text)
    with pytest.raises(SystemExit) as end:
        main(["paths", f"checkpoints:sqlite:///{tmp_path}/none.db", "--map", str(mapping)])
    assert end.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line


def test_a_reading_that_goes_on_takes_nothing_for_missing_that_it_did_not_read(tmp_path, capsys):
    mapping, file = tmp_path / "map.yaml", tmp_path / "paths.jsonl"
    mapping.write_text("late: answer\n")
    with kept("sqlite", tmp_path) as store:
        ask(store.saver, *["q"] * 11, "late", *["q"] * 11)
        for _ in range(2):
            with pytest.raises(SystemExit) as end:
                main(["paths", f"checkpoints:{store.location}", "--map", str(mapping), "--resume", str(file)])
            assert end.value.code == 0, capsys.readouterr().err
    assert len([json.loads(line) for line in file.read_text().splitlines()]) == 23
