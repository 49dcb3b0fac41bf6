"""The spool: received OTLP requests, durable before they are acknowledged, readable while they are written.

One SQLite file (WAL, synchronous=FULL, mode 0600) with a version of its own. It is disposable: reviews and scores live
in a second file beside it.
"""

from rag_probe_collector.spool.delivery import Delivery, Extent, MalformedRequestError, examine
from rag_probe_collector.spool.file import is_spool
from rag_probe_collector.spool.reader import SpoolReader, StoredTrace
from rag_probe_collector.spool.schema import VERSION, SpoolError
from rag_probe_collector.spool.writer import SpoolWriter

__all__ = [
    "VERSION",
    "Delivery",
    "Extent",
    "MalformedRequestError",
    "SpoolError",
    "SpoolReader",
    "SpoolWriter",
    "StoredTrace",
    "examine",
    "is_spool",
]
