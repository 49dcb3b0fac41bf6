"""What an adapter gives: how to find the span that another instrumentation made for a run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias
from uuid import UUID

from opentelemetry.trace import Span

Look: TypeAlias = Callable[[UUID], Span | None]
"""From a run's id to the span, while the run is open; None where there is none. May raise anything."""
Adapter: TypeAlias = Callable[[Any], Look]
"""From the other's callback handler to its look-up; raises AttributeError where its names have moved."""
