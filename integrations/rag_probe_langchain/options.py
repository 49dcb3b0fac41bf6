"""What a handler was built with; the runs themselves are the process's (runs.py)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from opentelemetry.metrics import MeterProvider
from opentelemetry.trace import TracerProvider

from rag_probe.policy import CapturePolicy
from rag_probe.stages import Identity, Outcome
from rag_probe_langchain.tokens import Tokenizer

OutcomeOf: TypeAlias = Callable[[object], Outcome | None]
"""From the root's output to what the answer is; None leaves it to inference."""
IdentityOf: TypeAlias = Callable[[object, Mapping[str, object]], Identity | None]
"""From the root's input and the metadata of its config, which is all that callbacks see of it, to who asks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Settled when a handler is built, read by every run that it hears first."""

    provider: TracerProvider | None
    """None: the process's provider at the time a question starts."""
    meter_provider: MeterProvider | None = None
    """None: as above; metrics are off while there is none."""
    policy: CapturePolicy
    tokenizer: Tokenizer
    outcome: OutcomeOf | None
    identity: IdentityOf | None
    scope: str
    beside: bool = False
    """Whether another instrumentation writes the spans of the steps, so that ours say only what theirs do not."""
