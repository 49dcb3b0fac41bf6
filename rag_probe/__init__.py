"""Evidence paths of RAG answers in OpenTelemetry: what an app writes, and what an app and the evaluator both speak.

`configure` and `KeepCases` need the extra `otlp`; everything else only opentelemetry-api. Each name is loaded when it
is first used, so that the vocabulary (`rag_probe.stages`, `rag_probe.wire`, …) costs no more than itself.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from rag_probe import tell
    from rag_probe.cases import case, current_identity, current_tags
    from rag_probe.sampling import KeepCases
    from rag_probe.staging import stage
    from rag_probe.tracing import configure

__all__ = ["KeepCases", "case", "configure", "current_identity", "current_tags", "stage", "tell"]

_HOMES: Final = {
    "KeepCases": "rag_probe.sampling",
    "case": "rag_probe.cases",
    "configure": "rag_probe.tracing",
    "current_identity": "rag_probe.cases",
    "current_tags": "rag_probe.cases",
    "stage": "rag_probe.staging",
}


def __getattr__(name: str) -> object:
    if name == "tell":
        return import_module("rag_probe.tell")
    if name not in _HOMES:
        raise AttributeError(f"module 'rag_probe' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
