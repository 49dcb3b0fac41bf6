"""The registry of sources: one file and one line here for each; installed packages add theirs by entry point."""

from __future__ import annotations

import re
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Final, cast

from rag_probe.protocols import SOURCES, OpenSource, Source, SourceError, SourceOptions
from rag_probe_collector.sources.joined import JoinedSource
from rag_probe_collector.sources.recognise import recognise

__all__ = ["BUILT_IN", "open_source", "schemes"]

BUILT_IN: Final = {
    "otlp": "rag_probe_collector.sources.otlp:open_otlp",
    "results": "rag_probe_collector.sources.results:open_results",
    "spool": "rag_probe_collector.sources.spool:open_spool",
}
"""Scheme → function, imported when it is asked for."""

EXTRAS: Final = {"checkpoints": "langgraph"}
"""Schemes that an extra of this distribution brings."""

_SPEC: Final = re.compile(r"([a-z][a-z0-9+.-]*):(.*)", re.DOTALL)


def open_source(spec: str, options: SourceOptions | None = None) -> Source:
    """Open `scheme:location`, or a bare path whose content says what it is; raises SourceError in one line."""
    scheme, location = _split(spec)
    if not location:
        raise SourceError(f"{spec!r}: expected a location after the scheme, as in {scheme}:FILE")
    options = options or SourceOptions()
    if scheme != "checkpoints" and (options.mapping is not None or options.traces is not None):
        option = "--map" if options.mapping is not None else "--traces"
        raise SourceError(f"{option}: only for checkpoints, {spec!r} is a source of kind {scheme}")
    if options.traces is not None and _split(options.traces)[0] == "checkpoints":
        raise SourceError(f"--traces: expected traces to join, {options.traces!r} is a store of checkpoints")
    opened = _opener(scheme)(location, options)
    return opened if options.traces is None else JoinedSource(opened, open_source(options.traces))


def schemes() -> list[str]:
    """Every scheme that can be opened here."""
    return sorted({*BUILT_IN, *_installed()})


def _split(spec: str) -> tuple[str, str]:
    match = _SPEC.fullmatch(spec)
    if match is None or (Path(spec).exists() and match[1] not in schemes()):
        return recognise(spec), spec
    return match[1], match[2]


def _opener(scheme: str) -> OpenSource:
    target = BUILT_IN.get(scheme)
    if target is not None:
        module, _, name = target.partition(":")
        return cast(OpenSource, getattr(import_module(module), name))
    entry = _installed().get(scheme)
    if entry is not None:
        return _load(entry)
    if scheme in EXTRAS:
        raise SourceError(f"{scheme}: not installed; pip install 'rag-probe-otel[{EXTRAS[scheme]}]'")
    raise SourceError(f"{scheme}: unknown kind of source; expected a path or one of {', '.join(schemes())}")


def _load(entry: EntryPoint) -> OpenSource:
    try:
        return cast(OpenSource, entry.load())
    except ImportError as error:
        extra = EXTRAS.get(entry.name)
        remedy = f"pip install 'rag-probe-otel[{extra}]'" if extra else f"install what {entry.value} imports"
        raise SourceError(f"{entry.name}: cannot be loaded ({error}); {remedy}") from None


def _installed() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=SOURCES)}
