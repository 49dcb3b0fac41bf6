"""What the callback costs where nothing is recorded: no provider, a sampler that refuses, an SDK that is switched off.

Measured as `replay` does it, beside a handler that does nothing.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any, Final
from unittest.mock import patch

from langchain_core.callbacks import BaseCallbackHandler
from opentelemetry.sdk.environment_variables import OTEL_SDK_DISABLED
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF
from opentelemetry.trace import NoOpTracerProvider

from rag_probe.policy import CapturePolicy
from rag_probe_langgraph import RagProbeGraphHandler
from tests.benchmarks.apps import APPS
from tests.benchmarks.limit import Count
from tests.benchmarks.replay import ROUNDS, measured
from tests.benchmarks.report import Ratio, table


def _disabled() -> TracerProvider:
    with patch.dict(os.environ, {OTEL_SDK_DISABLED: "true"}):
        return TracerProvider()


_PROVIDERS: Final = {
    "no provider": NoOpTracerProvider,
    "sampled out": lambda: TracerProvider(sampler=ALWAYS_OFF),
    "SDK disabled": _disabled,
}


def _compared(_: Callable[[list[Any]], object], __: TracerProvider) -> dict[str, BaseCallbackHandler | None]:
    found: dict[str, BaseCallbackHandler | None] = {"nothing": None, "no-op": Count()}
    for name, provider in _PROVIDERS.items():
        found[name] = RagProbeGraphHandler(tracer_provider=provider(), policy=CapturePolicy())
    return found


def run(rounds: int = ROUNDS) -> list[Ratio]:
    """CPU beside that of a handler that does nothing."""
    micros = measured(rounds, _compared)
    return [
        Ratio(f"{name}, {app}: CPU added", micros[app, name], micros[app, "no-op"], "µs", "beside a no-op handler")
        for app in APPS
        for name in _PROVIDERS
    ]


if __name__ == "__main__":
    print(table(run(int(sys.argv[1]) if sys.argv[1:] else ROUNDS)))
