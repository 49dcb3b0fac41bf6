"""`postgresql://…`: what langgraph-checkpoint-postgres wrote, in read-only transactions.

Nothing is set for the session and no statement is prepared: behind a pooler the next transaction on the same connection
to the server may be the app's.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from rag_probe.protocols import SourceError
from rag_probe_langgraph.checkpoints.rows import Columns, saved_from
from rag_probe_langgraph.checkpoints.saved import Saved, entries, state_of
from rag_probe_langgraph.checkpoints.stored import Blob, Stored

if TYPE_CHECKING:
    from psycopg import Connection

_NEWEST: Final = 9
"""The last migration that this release knows (langgraph-checkpoint-postgres 3.2)."""
_CONNECT_S: Final = 10
_FULL: Final = {"id": "checkpoint_id", "parent": "parent_checkpoint_id", "version": "b.version = v.value"}
_SHALLOW: Final = {"id": "checkpoint ->> 'id'", "parent": "NULL", "version": "true"}
"""The same words for `ShallowPostgresSaver`, which keeps the last checkpoint only, without its parent."""
_THREADS: Final = """
SELECT thread_id, max({id}) FILTER (WHERE checkpoint_ns = '') FROM checkpoints
GROUP BY thread_id ORDER BY min({id}), thread_id"""
_CHECKPOINTS: Final = """
SELECT checkpoint_ns, {id}, {parent}, metadata FROM checkpoints WHERE thread_id = %s ORDER BY {id}"""
_CHANNELS: Final = """
SELECT channel FROM checkpoint_writes WHERE thread_id = %s UNION
SELECT channel FROM checkpoint_blobs WHERE thread_id = %s UNION
SELECT jsonb_object_keys(checkpoint -> 'channel_versions') FROM checkpoints
WHERE thread_id = %s AND checkpoint_ns = '' AND {id} = %s
    AND jsonb_typeof(checkpoint -> 'channel_versions') = 'object'"""
_WRITES: Final = """
SELECT checkpoint_ns, checkpoint_id, task_id, {path}, idx, channel, type,
    CASE WHEN %s OR channel = ANY(%s) OR left(channel, 2) = '__' THEN blob END
FROM checkpoint_writes WHERE thread_id = %s ORDER BY checkpoint_id, {path} COLLATE "C", task_id COLLATE "C", idx"""
_RECORD: Final = """
SELECT checkpoint FROM checkpoints WHERE thread_id = %s AND checkpoint_ns = %s AND {id} = %s"""
_BLOBS: Final = """
SELECT b.channel, b.type, b.blob FROM checkpoints c
CROSS JOIN LATERAL jsonb_each_text(
    CASE jsonb_typeof(c.checkpoint -> 'channel_versions') WHEN 'object' THEN c.checkpoint -> 'channel_versions' END
) AS v
JOIN checkpoint_blobs b ON b.thread_id = c.thread_id AND b.checkpoint_ns = c.checkpoint_ns
    AND b.channel = v.key AND {version}
WHERE c.thread_id = %s AND c.checkpoint_ns = %s AND c.{id} = %s"""

_TABLES: Final = """
SELECT c.relname, n.nspname, pg_table_is_visible(c.oid), has_table_privilege(c.oid, 'SELECT'),
    array_agg(a.attname::text)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid
WHERE c.relname LIKE 'checkpoint%%' AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname NOT LIKE 'pg_temp%%'
GROUP BY c.oid, c.relname, n.nspname"""
_NEEDED: Final = ("checkpoint_blobs", "checkpoint_writes", "checkpoints")
_REMEDIES: Final = {
    "QueryCanceled": "; the server ends long statements: add options=-c%20statement_timeout%3D0 to the address",
    "InsufficientPrivilege": f"; GRANT SELECT ON {', '.join(_NEEDED)} to this user",
    "AdminShutdown": "; read it again, with --resume FILE it goes on where it was",
    "OperationalError": "; read it again, with --resume FILE it goes on where it was",
}
"""By the class of the error."""


class _Table(NamedTuple):
    name: str
    schema: str
    is_visible: bool
    """Whether its schema is in the search path."""
    is_readable: bool
    columns: Sequence[str]


class PostgresStore:
    """One database. Needs psycopg, which langgraph-checkpoint-postgres brings."""

    def __init__(self, location: str) -> None:
        """Connect, and look whether it holds checkpoints; raises SourceError."""
        try:
            import psycopg
        except ImportError as error:
            raise SourceError(
                f"checkpoints:postgresql: needs psycopg ({error}); pip install 'psycopg[binary]'"
            ) from None
        self._error: type[Exception] = psycopg.Error
        if not _is_uri(location):
            raise SourceError(
                "checkpoints:postgresql: expected postgresql://user:password@host/database; "
                "in a password the characters @ : / ? # [ ] % are written as %40 and so on"
            )
        self._name = location.rpartition("@")[2].partition("?")[0]
        """Without the password."""
        try:
            self._connection: Connection[tuple[object, ...]] = psycopg.connect(
                location, prepare_threshold=None, connect_timeout=_CONNECT_S, application_name="rag-probe"
            )
            self._connection.read_only = True
        except psycopg.Error as error:
            raise SourceError(f"{self._name}: cannot be opened ({_line(error)})") from None
        try:
            self._words: Mapping[str, str] = self._look()
        except SourceError:
            self.close()
            raise

    def threads(self) -> Mapping[str, str]:
        """By their first checkpoint; the ids of all are held."""
        rows = self._query(_THREADS.format(**self._words))
        return {str(thread): str(newest or "") for thread, newest in rows}

    def channels(self, thread: str, newest: str) -> Collection[str]:
        """Names of channels that it has written, or that its newest checkpoint knows."""
        found = self._query(_CHANNELS.format(**self._words), (thread, thread, thread, newest))
        return {str(channel) for (channel,) in found}

    def saved(self, thread: str, channels: Collection[str] | None) -> list[Saved]:
        """The checkpoints without their states; before their writes, so that none of these is missing."""
        checkpoints = self._query(_CHECKPOINTS.format(**self._words), (thread,))
        asked = (channels is None, list(channels or ()), thread)
        writes = self._query(_WRITES.format(**self._words), asked)
        return saved_from(thread, checkpoints, writes, Columns(entries, _blob))

    def checkpoint(self, saved: Saved) -> Mapping[str, object]:
        """One record; small values stand in it, the others in a table of their own."""
        place = (saved.thread, saved.namespace, saved.id)
        rows = self._query(_RECORD.format(**self._words), place)
        record = entries(rows[0][0] if rows else None)
        apart: dict[str, Stored] = {
            str(channel): _blob(kind, blob)
            for channel, kind, blob in self._query(_BLOBS.format(**self._words), place)
            if kind != "empty"
        }
        return {**record, "channel_values": {**state_of(record), **apart}}

    def pause(self) -> None:
        """End the transaction: an open one would keep the app from changing its tables."""
        try:
            self._connection.rollback()
        except self._error as error:
            raise self._unreadable(error) from None

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _look(self) -> Mapping[str, str]:
        """Whether it is one, and of a version that is known; how the columns are spelt that differ between savers."""
        tables = [_Table(*cast("tuple[str, str, bool, bool, list[str]]", row)) for row in self._query(_TABLES)]
        visible = {table.name: table for table in tables if table.is_visible}
        missing = ", ".join([name for name in _NEEDED if name not in visible])
        if missing:
            raise SourceError(f"{self._name}: no checkpoints of LangGraph: the table {missing} {_elsewhere(tables)}")
        closed = ", ".join([name for name in _NEEDED if not visible[name].is_readable])
        if closed:
            raise SourceError(f"{self._name}: this user may not read {closed}{_REMEDIES['InsufficientPrivilege']}")
        self._look_at_version(visible.get("checkpoint_migrations"))
        path = "task_path" if "task_path" in visible["checkpoint_writes"].columns else "''"
        return {"path": path, **(_FULL if "checkpoint_id" in visible["checkpoints"].columns else _SHALLOW)}

    def _look_at_version(self, migrations: _Table | None) -> None:
        if migrations is None or not migrations.is_readable:
            return
        newest = self._query("SELECT max(v) FROM checkpoint_migrations")[0][0]
        if isinstance(newest, int) and newest > _NEWEST:
            raise SourceError(
                f"{self._name}: its schema is version {newest}, this release reads up to {_NEWEST}; upgrade rag-probe"
            )

    def _query(self, sql: str, values: Sequence[object] = ()) -> list[tuple[object, ...]]:
        try:
            return self._connection.execute(sql.encode(), values).fetchall()
        except self._error as error:
            raise self._unreadable(error) from None

    def _unreadable(self, error: Exception) -> SourceError:
        return SourceError(f"{self._name}: cannot be read ({_line(error)}){_REMEDIES.get(type(error).__name__, '')}")


def _elsewhere(tables: Iterable[_Table]) -> str:
    """What is wrong, and how to mend it: they may stand in a schema that is not looked at."""
    schemas = sorted({table.schema for table in tables if table.name in _NEEDED and not table.is_visible})
    if schemas:
        return f"stands in the schema {', '.join(schemas)}: add options=-c%20search_path%3D{schemas[0]} to the address"
    return "is missing; expected what langgraph-checkpoint-postgres writes"


def _blob(kind: object, data: object) -> Blob | None:
    return Blob(str(kind), data) if isinstance(data, bytes) else None


def _is_uri(location: str) -> bool:
    """Whether libpq splits it where we do: else it would take a piece of the password for a host, and print it."""
    import psycopg
    from psycopg.conninfo import conninfo_to_dict

    try:
        conninfo_to_dict(location)
    except psycopg.Error:  # its message quotes all of it
        return False
    before, _, after = location.partition("://")[2].partition("?")[0].partition("/")
    return before.count("@") <= 1 and "@" not in after


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
