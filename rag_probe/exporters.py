"""The span exporters that the OTEL_* variables ask for. Needs the extra `otlp`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from importlib.metadata import entry_points
from typing import Final
from urllib.parse import urlsplit

from opentelemetry.sdk.trace.export import SpanExporter

from rag_probe.delivery import Delivery
from rag_probe.faults import warn_once
from rag_probe.plugins import plugin

_EXPORTER: Final = "OTEL_TRACES_EXPORTER"
_PROTOCOLS: Final = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
_ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_GROUP: Final = "opentelemetry_traces_exporter"
_BY_PROTOCOL: Final = {"grpc": "otlp_proto_grpc", "http/protobuf": "otlp_proto_http", "http/json": "otlp_json_http"}
_DEFAULT: Final = _BY_PROTOCOL["http/protobuf"]
_GRPC_PORT: Final = 4317


def deliveries_from_environment() -> Iterator[Delivery]:
    """One way out for each name in OTEL_TRACES_EXPORTER: `otlp` when it is not set, nothing for `none`.

    Endpoint, headers, TLS, compression and timeout are read by the exporter itself. An exporter that cannot be had is
    said once and left out.
    """
    for name in os.environ.get(_EXPORTER, "").split(","):
        match name.strip():
            case "none":
                continue
            case "" | "otlp":
                known = _otlp()
            case other:
                known = other
        make = partial(plugin, SpanExporter, _GROUP, known, _EXPORTER)
        exporter = make()
        if exporter is not None:
            yield Delivery(exporter, make if known in _BY_PROTOCOL.values() else None)


def _otlp() -> str:
    protocol = _first(_PROTOCOLS)
    if protocol is None:
        return _BY_PROTOCOL["grpc"] if _is_grpc(_first(_ENDPOINTS)) else _DEFAULT
    name = _BY_PROTOCOL.get(protocol.lower())
    if name is not None and name in entry_points(group=_GROUP).names:
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
