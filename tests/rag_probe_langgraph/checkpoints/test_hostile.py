"""Whatever a store holds: no shape of it raises, loops forever or loses a step (issue C; checklist 170)."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterator, Mapping
from contextlib import closing
from typing import Any

import ormsgpack
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from rag_probe.policy import CapturePolicy
from rag_probe.protocols import Selection
from rag_probe_collector.cli.path_view import view
from rag_probe_collector.cli.paths import as_line
from rag_probe_langgraph.checkpoints import open_checkpoints
from rag_probe_langgraph.checkpoints.built import Asked, Sent
from rag_probe_langgraph.checkpoints.path import path_of
from rag_probe_langgraph.checkpoints.plain import Reader
from rag_probe_langgraph.checkpoints.roles import ROLES
from rag_probe_langgraph.checkpoints.saved import Saved, Write
from rag_probe_langgraph.checkpoints.stored import Blob
from rag_probe_langgraph.checkpoints.turns import turns_of

any_text = st.text(st.characters(exclude_categories=()), max_size=8)
leaves = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([10**30, -(10**30), float("nan"), float("inf"), "\ud800", b"\xff", object()])
    | st.floats()
    | any_text
    | st.builds(
        Document,
        page_content=st.sampled_from(["a", "a passage long enough to be found", "\ud800"]),
        id=st.none() | any_text,
    )
    | st.builds(AIMessage, any_text)
    | st.builds(HumanMessage, any_text)
    | st.builds(ToolMessage, any_text, tool_call_id=any_text, artifact=st.just([Document("x")]) | st.integers())
    | st.builds(Sent, any_text, st.integers())
    | st.builds(Asked, any_text, st.none())
)
values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(any_text | st.integers(), inner, max_size=3),
    max_leaves=6,
)
packable = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats()
    | st.text(max_size=5)
    | st.binary(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3) | st.integers(0, 9), inner, max_size=3)
    ),
    max_leaves=5,
)
extended = st.builds(
    lambda code, data: ormsgpack.packb(ormsgpack.Ext(code, data)),
    st.integers(0, 9),
    st.binary(max_size=9) | packable.map(lambda value: ormsgpack.packb(value, option=ormsgpack.OPT_NON_STR_KEYS)),
)
NAMED = [
    ("langchain_core.documents", "Document"),
    ("langchain_core.messages.ai", "AIMessage"),
    ("langgraph.types", "Send"),
]
built = st.builds(
    lambda name, made_of: ormsgpack.packb(
        ormsgpack.Ext(5, ormsgpack.packb([*name, made_of, "x"], option=ormsgpack.OPT_NON_STR_KEYS))
    ),
    st.sampled_from(NAMED),
    packable,
)
blobs = st.builds(
    Blob,
    st.sampled_from(["msgpack", "json", "pickle", "null", "empty", "bytes", "msgpack+aes", "", "+"]),
    st.binary(max_size=12)
    | packable.map(lambda value: ormsgpack.packb(value, option=ormsgpack.OPT_NON_STR_KEYS))
    | extended
    | built
    | st.just(b"[" * 5000)
    | st.just(b"\x91" * 5000),
)
_NAMED_CHANNELS = "question answer messages documents context permitted citations confidence outcome x \ud800"
_OWN_CHANNELS = "__start__ __error__ __interrupt__ __resume__ __no_writes__ __return__ branch:to:a"
channels = st.sampled_from(f"{_NAMED_CHANNELS} {_OWN_CHANNELS}".split())
writes = st.builds(
    Write,
    st.sampled_from(["t1", "t2", "00000000-0000-0000-0000-000000000000", ""]),
    st.sampled_from(
        ["", "~__pregel_pull, a", "~__pregel_push, 0, False", "~__pregel_push, 99", "~__pregel_push, x", ", ,"]
    ),
    st.integers(-4, 4),
    channels,
    values | blobs,
)
ids = st.integers(0, 12).map(lambda place: f"1f1eca1b-8574-6993-8004-{place:012x}")
metadata = st.fixed_dictionaries(
    {},
    optional={
        "source": st.sampled_from(["input", "loop", "loop", "update", "fork", "x", 7, None]),
        "step": st.integers(-2, 6) | st.sampled_from([None, "1", True, 10**30, 1.5]),
        "traceparent": st.just("00-" + "1" * 32 + "-" + "2" * 16 + "-01") | values,
        "rag.case.id": values,
        "rag.experiment.id": values,
        "user.id": values,
    },
)
checkpoints = st.lists(
    st.builds(
        Saved,
        st.just("t"),
        st.sampled_from(["", "", "", "a:t1", "a:t1|b:t2", "|"]),
        ids | st.sampled_from(["", "x", "1f1eca1b"]),
        st.none() | ids,
        metadata,
        st.lists(writes, max_size=4).map(tuple),
    ),
    max_size=12,
    unique_by=lambda saved: (saved.namespace, saved.id),
)
records = st.fixed_dictionaries(
    {},
    optional={
        "v": st.sampled_from([1, 4, None, "x"]),
        "channel_values": st.dictionaries(channels | st.just("__pregel_tasks"), values | blobs, max_size=3) | values,
        "channel_versions": st.dictionaries(channels, st.integers() | any_text, max_size=2) | values,
        "versions_seen": st.dictionaries(
            any_text, st.dictionaries(any_text, st.integers(), max_size=2) | values, max_size=2
        ),
    },
)


class Held:
    """A store that is one record for all."""

    def __init__(self, record: Mapping[str, object]) -> None:
        self._record = record

    def threads(self) -> Iterator[str]:
        yield "t"

    def channels(self, thread: str, newest: str) -> Collection[str]:
        return ()

    def saved(self, thread: str, channels: Collection[str] | None) -> list[Saved]:
        return []

    def checkpoint(self, saved: Saved) -> Mapping[str, object]:
        return self._record

    def pause(self) -> None: ...

    def close(self) -> None: ...


QUICK = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])


@QUICK
@given(checkpoints)
def test_every_step_belongs_to_a_turn_and_no_chain_comes_back(saved):
    turns = turns_of(saved)
    covered = {one.id for turn in turns for one in turn.saved}
    assert {one.id for one in saved if not one.namespace and one.source == "loop"} <= covered
    for turn in turns:
        names = [one.id for one in turn.saved]
        assert len(set(names)) == len(names)
        assert all(below.parent == above.id for above, below in zip(turn.saved, turn.saved[1:], strict=False))


@QUICK
@given(checkpoints, records, st.booleans(), st.dictionaries(channels, st.sampled_from(ROLES), max_size=4))
def test_no_store_makes_a_path_raise(saved, record, content, roles):
    for turn in turns_of(saved):
        path = path_of(turn, Held(record), Reader(), CapturePolicy(content=content), roles).path
        json.loads(as_line(path))
        view(path)


@QUICK
@given(blobs)
def test_no_value_makes_the_reader_raise(blob):
    Reader().read(blob)


def deep(value: Any, levels: int = 3000) -> Any:
    for _ in range(levels):
        value = [value]
    return value


def test_what_is_nested_without_end_is_closed():
    reader = Reader()
    assert reader.read(deep("x")) is not None
    assert reader.held_back.total() == 1


_ints = st.integers(-(2**63), 2**63 - 1)  # what SQLite holds
ROWS = st.lists(
    st.tuples(
        st.none() | st.text(max_size=3) | st.binary(max_size=3),
        st.sampled_from(["", "a:t1"]),
        ids,
        st.none() | ids | _ints,
        st.none() | st.just("msgpack") | _ints,
        st.none() | st.binary(max_size=6) | st.text(max_size=3),
        st.none() | st.binary(max_size=6) | st.text(max_size=3) | st.just("[" * 9000) | st.just('{"source": "loop"}'),
    ),
    max_size=4,
    unique_by=lambda row: (str(row[0]), row[1], row[2]),
)


@settings(QUICK, max_examples=15)
@given(
    ROWS,
    st.lists(
        st.tuples(ids, channels.filter(lambda name: name.isascii()), st.none() | st.binary(max_size=6)), max_size=4
    ),
)
def test_no_row_of_a_database_makes_it_raise(tmp_path_factory, rows, written):
    path = tmp_path_factory.mktemp("hostile") / "checkpoints.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(
            "CREATE TABLE checkpoints "
            "(thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata)"
        )
        connection.execute(
            "CREATE TABLE writes (thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, value)"
        )
        connection.executemany("INSERT INTO checkpoints VALUES (?,?,?,?,?,?,?)", rows)
        for thread, *_ in rows[:1]:
            connection.executemany(
                "INSERT INTO writes VALUES (?, '', ?, 't1', 0, ?, 'msgpack', ?)", [(thread, *one) for one in written]
            )
        connection.commit()
    for found in open_checkpoints(f"sqlite:///{path}").paths(Selection()):
        json.loads(as_line(found))
