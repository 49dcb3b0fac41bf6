"""What an instrumentor may be told: what the handler may be told."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import signature
from typing import Any

from rag_probe.faults import warn_once
from rag_probe_langchain.handler import RagProbeCallbackHandler


def options_of(kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The handler's options among the arguments of `instrument`; others are said once and left out."""
    known = signature(RagProbeCallbackHandler).parameters
    unknown = sorted(kwargs.keys() - known.keys())
    if unknown:
        warn_once("instrument", "instrument() takes %s; %s left out", ", ".join(known), ", ".join(unknown))
    return {name: value for name, value in kwargs.items() if name in known}
