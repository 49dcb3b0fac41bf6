"""The exporters of spans and metrics that the OTEL_* variables ask for. Needs the extra `otlp`."""

from __future__ import annotations

import netrc
import os
from collections.abc import Iterator
from functools import partial
from importlib.metadata import entry_points
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from opentelemetry.sdk.trace.export import SpanExporter

from rag_probe.delivery import Delivery
from rag_probe.faults import warn_once
from rag_probe.plugins import plugin

_BY_PROTOCOL: Final = {"grpc": "otlp_proto_grpc", "http/protobuf": "otlp_proto_http", "http/json": "otlp_json_http"}
_DEFAULT: Final = _BY_PROTOCOL["http/protobuf"]
OTLP: Final = frozenset(_BY_PROTOCOL.values())
"""Those that hold a connection, which is a process's own."""
_GRPC_PORT: Final = 4317
_IMPORTED: Final = (netrc,)
"""`requests` imports it with its first request: what a thread imports while the app forks stays locked in the child."""


class Signal(NamedTuple):
    """What is exported, and where it is said how."""

    variable: str
    """Names the exporters."""
    group: str
    """Of their entry points."""
    protocols: tuple[str, ...]
    endpoints: tuple[str, ...]


def _signal(word: str) -> Signal:
    variables = (f"OTEL_EXPORTER_OTLP_{word}_", "OTEL_EXPORTER_OTLP_")
    return Signal(
        variable=f"OTEL_{word}_EXPORTER",
        group=f"opentelemetry_{word.lower()}_exporter",
        protocols=tuple(f"{each}PROTOCOL" for each in variables),
        endpoints=tuple(f"{each}ENDPOINT" for each in variables),
    )


TRACES: Final = _signal("TRACES")
METRICS: Final = _signal("METRICS")


def deliveries_from_environment() -> Iterator[Delivery]:
    """One way out for each name in OTEL_TRACES_EXPORTER: `otlp` when it is not set, nothing for `none`.

    Endpoint, headers, TLS, compression and timeout are read by the exporter itself. An exporter that cannot be had is
    said once and left out.
    """
    for name in names_from_environment(TRACES, "otlp"):
        make = partial(plugin, SpanExporter, TRACES.group, name, TRACES.variable)
        exporter = make()
        if exporter is not None:
            yield Delivery(exporter, make if name in OTLP else None)


def names_from_environment(signal: Signal, default: str) -> Iterator[str]:
    """The entry points of the exporters that are asked for; of OTLP that of the protocol."""
    for name in os.environ.get(signal.variable, "").split(","):
        match name.strip() or default:
            case "none":
                continue
            case "otlp":
                yield _otlp(signal)
            case other:
                yield other


def _otlp(signal: Signal = TRACES) -> str:
    protocol = _first(signal.protocols)
    if protocol is None:
        return _BY_PROTOCOL["grpc"] if _is_grpc(_first(signal.endpoints)) else _DEFAULT
    name = _BY_PROTOCOL.get(protocol.lower())
    if name is not None and name in entry_points(group=signal.group).names:
        return name
    remedy = (
        f"known: {', '.join(_BY_PROTOCOL)}" if name is None else "pip install opentelemetry-exporter-otlp-json-http"
    )
    warn_once(f"protocol {protocol}", "no exporter speaks OTLP over %r (%s): http/protobuf is used", protocol, remedy)
    return _DEFAULT


def _first(names: tuple[str, ...]) -> str | None:
    return next((value for name in names if (value := os.environ.get(name, "").strip())), None)


def _is_grpc(endpoint: str | None) -> bool:
    try:
        return endpoint is not None and urlsplit(endpoint).port == _GRPC_PORT
    except ValueError:  # not a port
        return False
