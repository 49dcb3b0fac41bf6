"""OTLP over gRPC and HTTP, acknowledged once it is durable in the spool."""

from rag_probe_collector.receiver.address import Address
from rag_probe_collector.receiver.collector import Collector
from rag_probe_collector.receiver.limits import Limits

__all__ = ["Address", "Collector", "Limits"]
