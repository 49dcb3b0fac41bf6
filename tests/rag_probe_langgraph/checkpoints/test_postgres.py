"""PostgreSQL as people run it: other schemas, few rights, limits, poolers (issue C, Read safely, bad input)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from langgraph.checkpoint.postgres import PostgresSaver

from rag_probe.protocols import Selection, SourceError
from rag_probe_langgraph.checkpoints import open_checkpoints
from rag_probe_langgraph.checkpoints.postgres import PostgresStore
from rag_probe_langgraph.checkpoints.saved import Saved

from .stores import database
from .test_turns import graph

pytestmark = pytest.mark.xdist_group("postgres")


@pytest.fixture(scope="module")
def store() -> str:
    location = database()
    fill(location)
    return location


@pytest.fixture
def admin(store) -> Iterator[Any]:
    with psycopg.connect(store, autocommit=True) as connection:
        yield connection


@pytest.fixture
def reader(store, admin) -> tuple[str, str]:
    """A user without any right, and the store as it sees it."""
    role = f"reader{uuid4().hex}"
    admin.execute(f"CREATE ROLE {role} LOGIN PASSWORD 'canary'")
    return role, store.replace("://postgres:", f"://{role}:canary")


def fill(location: str) -> None:
    with PostgresSaver.from_conn_string(location) as saver:
        saver.setup()
        for thread in "abcdef":
            graph(saver).invoke({"question": "q"}, {"configurable": {"thread_id": thread}})


def count(location: str) -> int:
    return sum(1 for _ in open_checkpoints(location).paths(Selection()))


def refused(location: str) -> str:
    with pytest.raises(SourceError) as error:
        count(location)
    said = str(error.value)
    assert "\n" not in said
    assert "canary" not in said
    return said


def test_a_user_who_may_only_read(admin, reader):
    role, location = reader
    three = "checkpoint_blobs, checkpoint_writes, checkpoints"
    assert f"this user may not read {three}; GRANT SELECT ON {three} to this user" in refused(location)
    admin.execute(f"GRANT SELECT ON checkpoints, checkpoint_writes TO {role}")
    assert "this user may not read checkpoint_blobs; GRANT SELECT ON" in refused(location)
    admin.execute(f"GRANT SELECT ON checkpoint_blobs TO {role}")
    assert count(location) == 6


def test_a_schema_that_is_not_in_the_search_path():
    location = database()
    with psycopg.connect(location, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA app")
    there = f"{location}&options=-c%20search_path%3Dapp"
    fill(there)
    assert "stands in the schema app: add options=-c%20search_path%3Dapp to the address" in refused(location)
    assert count(there) == 6


def test_a_store_without_one_of_its_tables():
    location = database()
    fill(location)
    with psycopg.connect(location, autocommit=True) as connection:
        connection.execute("DROP TABLE checkpoint_writes")
    assert "the table checkpoint_writes is missing; expected" in refused(location)


def test_a_server_that_ends_long_statements(store, admin):
    admin.execute("BEGIN")
    admin.execute("LOCK TABLE checkpoint_writes IN ACCESS EXCLUSIVE MODE")
    said = refused(f"{store}&options=-c%20statement_timeout%3D200")
    admin.execute("ROLLBACK")
    assert "add options=-c%20statement_timeout%3D0 to the address" in said


def test_a_connection_that_is_lost_midway(store, admin):
    paths = open_checkpoints(store).paths(Selection())
    next(paths)
    admin.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE application_name = 'rag-probe' AND datname = current_database()"
    )
    with pytest.raises(SourceError, match="with --resume FILE it goes on where it was") as error:
        list(paths)
    assert "\n" not in str(error.value)


def test_behind_a_pooler_nothing_of_us_stays_on_the_servers_connection(store, admin):
    """There the app may get it for its next transaction: it has to be as it was."""
    opened = PostgresStore(store)
    for thread, newest in opened.threads().items():
        for saved in opened.saved(thread, None):
            opened.checkpoint(saved)
        opened.channels(thread, newest)
    with pytest.raises(SourceError, match="read-only transaction"):
        opened._query("DELETE FROM checkpoint_migrations")
    opened.pause()
    server = opened._connection
    server.read_only = False
    assert server.execute("SHOW transaction_read_only").fetchone() == ("off",)
    assert server.execute("SELECT count(*) FROM pg_prepared_statements").fetchone() == (0,)
    opened.close()


def test_while_somebody_looks_at_a_path_no_transaction_is_open(store, admin):
    """An open one would keep the app from changing its tables."""
    paths = open_checkpoints(store).paths(Selection())
    next(paths)
    admin.execute("SET lock_timeout = '20s'")
    admin.execute("ALTER TABLE checkpoints ADD COLUMN more text")
    admin.execute("ALTER TABLE checkpoints DROP COLUMN more")
    assert len(list(paths)) == 5


def test_a_record_of_another_shape_stops_nothing(store, admin):
    admin.execute(
        "INSERT INTO checkpoints (thread_id, checkpoint_ns, checkpoint_id, checkpoint, metadata) "
        """VALUES ('odd', '', '1', '{"channel_versions": [1], "channel_values": 7}', '[]')"""
    )
    opened = PostgresStore(store)
    assert opened.channels("odd", "1") == set()
    assert opened.checkpoint(Saved("odd", "", "1", None, {}, ())) == {"channel_versions": [1], "channel_values": {}}
    opened.close()
    admin.execute("DELETE FROM checkpoints WHERE thread_id = 'odd'")
