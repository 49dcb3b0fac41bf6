"""What cannot be read is named and never taken for nothing: encryption, pruned and shallow histories (issue C)."""

from __future__ import annotations

import asyncio
import logging
import operator
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from decimal import Decimal
from enum import Enum
from typing import Annotated, TypedDict
from uuid import UUID

import pytest
from langchain_core.documents import Document
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, StateGraph

from rag_probe.policy import CapturePolicy
from rag_probe.protocols import Selection, SourceError
from rag_probe_langgraph.checkpoints import of_graph, of_saver, open_checkpoints
from tests.rag_probe_langchain.apps import passages

from .stores import Kept, akept, database, kept, read
from .test_turns import CONFIG, graph

ON = CapturePolicy(content=True)
ALL = Selection()


class Xor:
    """A cipher that is one."""

    def __init__(self, key: int) -> None:
        self._key = key

    def encrypt(self, plaintext: bytes) -> tuple[str, bytes]:
        return "xor", bytes(each ^ self._key for each in b"ok" + plaintext)

    def decrypt(self, ciphername: str, ciphertext: bytes) -> bytes:
        plain = bytes(each ^ self._key for each in ciphertext)
        if not plain.startswith(b"ok"):
            raise LookupError("canary")
        return plain[2:]


@pytest.fixture
def encrypted(tmp_path):
    path = tmp_path / "checkpoints.db"
    with closing(sqlite3.connect(path, check_same_thread=False)) as connection:
        graph(SqliteSaver(connection, serde=EncryptedSerializer(Xor(7)))).invoke({"question": "q"}, CONFIG)
    return path


def test_encrypted_values_are_not_captured_and_never_empty(encrypted, caplog):
    (path,) = open_checkpoints(f"sqlite:///{encrypted}", policy=ON).paths(ALL)
    assert [(step.stage.name, step.stage.outcome) for step in path.nodes] == [("retrieve", "ok"), ("draft", "ok")]
    assert (path.question, path.retrievals, path.retrieved, path.answer) == (None, None, None, None)
    assert {"question", "retrievals", "retrieved", "answer", "citations"} <= set(path.not_captured)
    assert "'documents' stays closed: encrypted (xor)" in path.warnings
    assert any("encrypted (xor)" in message for message in caplog.messages)
    assert path.tags.case_id == "c"


def test_the_callers_serialiser_opens_them(encrypted):
    serde = EncryptedSerializer(Xor(7))
    (path,) = open_checkpoints(f"sqlite:///{encrypted}", policy=ON, serde=serde).paths(ALL)
    assert (path.question.text, path.answer.content.text) == ("q", "To q")
    assert path.retrieved.ids == ("sale", "gift")
    assert path.warnings == ()


def test_a_wrong_key_is_no_crash_and_no_empty_list(encrypted):
    (path,) = open_checkpoints(f"sqlite:///{encrypted}", policy=ON, serde=EncryptedSerializer(Xor(8))).paths(ALL)
    assert (path.retrievals, path.answer) == (None, None)
    assert any("LookupError" in warning for warning in path.warnings)
    with closing(sqlite3.connect(encrypted, check_same_thread=False)) as connection:
        saver = SqliteSaver(connection, serde=EncryptedSerializer(Xor(8)))
        with pytest.raises(SourceError, match=r"SqliteSaver: cannot be read \(LookupError\)"):
            list(of_saver(saver).paths(ALL))


def nothing_but_partial(path) -> None:
    assert path.partial
    assert (path.retrievals, path.retrieved, path.context, path.answer, path.latency_ms) == (None,) * 5
    assert {"retrieved", "answer", "latency_ms"} <= set(path.not_captured)
    assert "latency_ms" not in path.inferred
    assert any("begins in the midst" in warning for warning in path.warnings)
    assert path.tags.case_id == "c"


def test_a_pruned_history_is_partial(tmp_path):
    path = tmp_path / "checkpoints.db"
    with closing(sqlite3.connect(path, check_same_thread=False)) as connection:
        graph(SqliteSaver(connection)).invoke({"question": "q"}, CONFIG)
        last = "SELECT max(checkpoint_id) FROM checkpoints"
        connection.execute(f"DELETE FROM writes WHERE checkpoint_id < ({last})")
        connection.execute(f"DELETE FROM checkpoints WHERE checkpoint_id < ({last})")
        connection.commit()
    (left,) = read(Kept(None, f"sqlite:///{path}"))
    what_was_left(left)
    assert (left.question.text, left.retrieved.ids, left.answer.content.text) == ("q", ("sale", "gift"), "To q")


def test_a_deleted_thread_is_gone(tmp_path):
    saver = InMemorySaver()
    graph(saver).invoke({"question": "q"}, CONFIG)
    saver.delete_thread("t")
    assert list(of_saver(saver).paths(ALL)) == []


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.xdist_group("postgres")
def test_a_shallow_store_holds_the_last_checkpoint_only():
    from langgraph.checkpoint.postgres.shallow import ShallowPostgresSaver

    location = database()
    with ShallowPostgresSaver.from_conn_string(location) as saver:
        saver.setup()
        app = graph(saver)
        for question in ("one", "two"):
            app.invoke({"question": question}, CONFIG)
        waits = graph(saver, interrupt_before=["draft"])
        waits.invoke({"question": "three"}, {"configurable": {"thread_id": "u"}})
    last, waiting = read(Kept(None, location))
    nothing_but_partial(last)  # whose passages they are nobody can tell: an earlier turn may have left them
    assert [(step.stage.name, step.stage.outcome) for step in waiting.nodes] == [("draft", "pending")]


def test_an_input_that_nothing_ran_on_is_a_question_without_an_answer(tmp_path):
    """The process died at once."""
    path = tmp_path / "checkpoints.db"
    with closing(sqlite3.connect(path, check_same_thread=False)) as connection:
        graph(SqliteSaver(connection)).invoke({"question": "q"}, CONFIG)
        first = "SELECT min(checkpoint_id) FROM checkpoints"
        connection.execute("DELETE FROM writes")
        connection.execute(f"DELETE FROM checkpoints WHERE checkpoint_id > ({first})")
        connection.commit()
    (left,) = read(Kept(None, f"sqlite:///{path}"))
    assert (left.question.text, left.answer, left.partial, left.retrieved) == ("q", None, True, None)
    assert any("nothing has run yet" in warning for warning in left.warnings)


def what_was_left(path) -> None:
    """Partial, every field of it inferred, and nothing said of the steps."""
    assert (path.partial, path.nodes, path.latency_ms, path.context) == (True, None, None, None)
    assert {"question", "retrieved", "answer"} <= set(path.inferred)
    assert {"nodes", "latency_ms", "filtered", "retrieved"} <= set(path.not_captured)
    assert any("begins in the midst" in warning for warning in path.warnings)
    assert path.tags.case_id == "c"


@pytest.mark.parametrize("kind", ["memory", "sqlite", "postgresql"])
@pytest.mark.xdist_group("postgres")
def test_of_a_sparse_history_the_end_of_each_turn_is_read(kind, tmp_path):
    with kept(kind, tmp_path) as store:
        for question in ("one", "two"):
            graph(store.saver).invoke({"question": question}, CONFIG, durability="exit")
        paths = read(store)
    assert [(path.question.text, path.answer.content.text) for path in paths] == [("one", "To one"), ("two", "To two")]
    for path in paths:
        assert path.retrieved.ids == ("sale", "gift")
        what_was_left(path)


def test_what_an_earlier_turn_left_is_not_this_turns(tmp_path):
    """Channels that it did not write; and of a list that grows, what was there before."""

    class Log(TypedDict, total=False):
        question: str
        found: Annotated[list[Document], operator.add]
        answer: str

    def retrieve(state):
        names = {"one": ["gift"], "two": ["sale"]}.get(state["question"])
        return {"found": passages(*names)} if names else {}

    built = StateGraph(Log)
    built.add_node("retrieve", retrieve)
    built.add_node("draft", lambda state: {"answer": state["question"]} if state["question"] != "three" else {})
    built.add_edge(START, "retrieve")
    built.add_edge("retrieve", "draft")
    with kept("sqlite", tmp_path) as store:
        app = built.compile(checkpointer=store.saver)
        for question in ("one", "two", "three"):
            app.invoke({"question": question}, CONFIG, durability="exit")
        one, two, three = read(store)
    assert (one.retrieved.ids, two.retrieved.ids, three.retrieved) == (("gift",), ("sale",), None)
    assert (one.answer.content.text, two.answer.content.text, three.answer) == ("one", "two", None)
    assert (three.question.text, three.nodes) == ("three", None)


def test_a_graph_is_read_by_its_checkpointer():
    app = graph(InMemorySaver())
    app.invoke({"question": "q"}, CONFIG)
    assert list(of_graph(app).paths(ALL)) == list(of_saver(app.checkpointer).paths(ALL)) != []
    with pytest.raises(SourceError, match="has no checkpointer; compile it with one"):
        of_graph(graph(None))


async def test_an_async_saver_is_read_from_a_thread(tmp_path):
    async with akept("sqlite", tmp_path) as store:
        await graph(store.saver).ainvoke({"question": "q"}, CONFIG)
        source = of_saver(store.saver, policy=ON)
        with pytest.raises(SourceError, match=r"asyncio\.to_thread"):
            list(source.paths(ALL))
        (path,) = await asyncio.to_thread(lambda: list(source.paths(ALL)))
        assert path.answer.content.text == "To q"


def test_an_async_saver_whose_loop_has_ended_does_not_hang(tmp_path):
    async def run():
        async with akept("sqlite", tmp_path) as store:
            return store.saver

    with pytest.raises(SourceError, match="its event loop has ended"):
        list(of_saver(asyncio.run(run())).paths(ALL))


SECRETS = {"api_token": "canary-1", "password": "canary-2", "db_secret_key": "canary-3", "authorization": "canary-4"}


@pytest.mark.parametrize("kind", ["memory", "sqlite", "postgresql"])
@pytest.mark.xdist_group("postgres")
def test_secrets_in_the_configuration_never_leave(kind, tmp_path, caplog, capsys):
    """LangGraph keeps configurable values in clear, beside every checkpoint."""
    from rag_probe_collector.cli.main import main

    caplog.set_level(logging.DEBUG)
    config = {
        "configurable": {"thread_id": "t", **SECRETS},
        "metadata": {"rag.case.id": "c", "x_api_key": "canary-5", "rag.api_key": "canary-6"},
    }
    with kept(kind, tmp_path) as store:
        graph(store.saver).invoke({"question": "q"}, config)
        assert "canary-1" in repr(list(store.saver.list(None)))
        assert "canary" not in repr(read(store))
        if store.location is not None:
            for flags in ([], ["--json"], ["--attribute", "api_token=x"]):
                with pytest.raises(SystemExit):
                    main(["paths", f"checkpoints:{store.location}", *flags])
    out, err = capsys.readouterr()
    assert "canary" not in out + err + caplog.text


def test_a_password_in_the_location_never_leaves():
    with pytest.raises(SourceError) as error:
        open_checkpoints("postgresql://kim:canary@127.0.0.1:1/none?password=canary")
    assert "canary" not in str(error.value)


def test_a_value_that_is_no_text_is_no_answer(tmp_path, caplog):
    """A store holds dates, exact numbers and members of enumerations as text."""

    class Grade(Enum):
        good = "pass"

    class State(TypedDict, total=False):
        question: str
        reply: str
        at: object
        verdict: object

    for value in (datetime(2026, 1, 1, tzinfo=UTC), Decimal("1.5"), UUID(int=7), Grade.good):
        caplog.clear()
        built = StateGraph(State)
        built.add_node("draft", lambda state: {"reply": "Yes."})
        built.add_node("note", lambda state, value=value: {"at": value, "verdict": Grade.good})
        built.add_edge(START, "draft")
        built.add_edge("draft", "note")
        (tmp_path / str(value)).mkdir()
        with kept("sqlite", tmp_path / str(value)) as store:
            built.compile(checkpointer=store.saver).invoke({"question": "q"}, CONFIG)
            (path,) = read(store)
        assert path.answer.content.text == "Yes."
        assert [each.passed for each in path.verdicts] == [True]
        assert "nothing is read from 'at'" in caplog.text


def test_encryption_is_told_with_what_opens_it(encrypted, caplog):
    list(open_checkpoints(f"sqlite:///{encrypted}").paths(Selection(limit=1)))
    (said,) = caplog.messages
    assert "'encrypted (xor)'; in Python, open_checkpoints(…, serde=…)" in said
