"""What OTEL_* variables name and packages provide by entry point: exporters, samplers, id generators."""

from __future__ import annotations

import os
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Final, TypeVar

from rag_probe.faults import warn_once

if TYPE_CHECKING:
    from opentelemetry.sdk.trace.id_generator import IdGenerator
    from opentelemetry.sdk.trace.sampling import Sampler

T = TypeVar("T")

_SAMPLER: Final = "OTEL_TRACES_SAMPLER"
_SDK_SAMPLERS: Final = frozenset(
    f"{parent}{name}" for parent in ("", "parentbased_") for name in ("always_on", "always_off", "traceidratio")
)
_ID_GENERATOR: Final = "OTEL_PYTHON_ID_GENERATOR"


def plugin(kind: type[T], group: str, name: str, variable: str, *arguments: object) -> T | None:
    """The `kind` that entry point `name` of `group` makes; what cannot be had is said once, and None."""
    found = tuple(entry_points(group=group, name=name))
    if not found:
        known = ", ".join(sorted(entry_points(group=group).names))
        warn_once(f"{variable}={name}", "%s: %r is not installed (known: %s); it is left out", variable, name, known)
        return None
    try:
        made = found[0].load()(*arguments)
    except Exception as error:  # a plug-in can raise anything, and the app has to start
        warn_once(
            f"{variable}={name}", "%s: %r failed (%s: %s); it is left out", variable, name, type(error).__name__, error
        )
        return None
    if isinstance(made, kind):
        return made
    warn_once(f"{variable}={name}", "%s: %r is no %s; it is left out", variable, name, kind.__name__)
    return None


def sampler_from_environment() -> Sampler | None:
    """The sampler of another package that OTEL_TRACES_SAMPLER names; None leaves the variable to the SDK."""
    from opentelemetry.sdk.trace.sampling import Sampler

    name = os.environ.get(_SAMPLER, "").strip()
    if not name or name.lower() in _SDK_SAMPLERS:
        return None
    return plugin(Sampler, "opentelemetry_traces_sampler", name, _SAMPLER, os.environ.get(f"{_SAMPLER}_ARG"))


def id_generator_from_environment() -> IdGenerator | None:
    """The generator that OTEL_PYTHON_ID_GENERATOR names; None is the SDK's own."""
    from opentelemetry.sdk.trace.id_generator import IdGenerator

    name = os.environ.get(_ID_GENERATOR, "").strip()
    return plugin(IdGenerator, "opentelemetry_id_generator", name, _ID_GENERATOR) if name else None
