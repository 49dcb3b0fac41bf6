"""`rag-probe paths`: the evidence path of every question of a source."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Final

import orjson
import typer
from rich.console import Console

from rag_probe.path import EvidencePath
from rag_probe.path_json import to_json
from rag_probe.protocols import ByThread, Selection, Source, SourceOptions
from rag_probe_collector.cli.path_view import view
from rag_probe_collector.cli.progress import progress_bar
from rag_probe_collector.cli.resume import resume as resume_file
from rag_probe_collector.cli.selection import Attribute, Limit, Service, Since, Trace, Until, selection
from rag_probe_collector.cli.terminal import plain, safe_json
from rag_probe_collector.errors import InputError
from rag_probe_collector.sources import open_source

_SOURCE: Final = "results:FILE, otlp:FILE|DIR|GLOB, spool:FILE.db, checkpoints:URL, or a path that is recognised."

_Source = Annotated[str, typer.Argument(metavar="SOURCE", help=_SOURCE)]
_Json = Annotated[bool, typer.Option("--json", help="One JSON object a line on stdout, and nothing else.")]
_Map = Annotated[Path | None, typer.Option("--map", help="Checkpoints: how state is read as stages.")]
_Traces = Annotated[str | None, typer.Option(metavar="SOURCE", help="Checkpoints: traces to join to them.")]
_Resume = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Checkpoints: write the JSON to FILE, and leave out the threads already in it."),
]


def paths(
    source: _Source,
    *,
    as_json: _Json = False,
    mapping: _Map = None,
    traces: _Traces = None,
    resume: _Resume = None,
    service: Service = None,
    since: Since = None,
    until: Until = None,
    trace: Trace = None,
    attribute: Attribute = None,
    limit: Limit = None,
) -> None:
    """Show what each question retrieved, filtered, permitted, put into the prompt, answered and cited.

    Gaps are shown and are no failure. Raises InputError and SourceError.
    """
    chosen = selection(service=service, since=since, until=until, trace=trace, attribute=attribute, limit=limit)
    with progress_bar(alone=resume is not None or not sys.stdout.isatty()) as progress:
        opened = open_source(source, SourceOptions(mapping=mapping, traces=traces, progress=progress))
        if resume is not None:
            said = _resumed(resume, opened, chosen)
        else:
            found = opened.paths(chosen)
            said = _questions(write_json(found) if as_json else _show(found))
    sys.stdout.flush()  # the count is said of what was written
    typer.echo(said, err=True)


def _resumed(file: Path, source: Source, chosen: Selection) -> str:
    if not isinstance(source, ByThread):
        raise InputError("--resume: only for checkpoints, without --traces")
    if chosen.limit is not None:
        raise InputError("--resume: reads everything that is selected; leave --limit out")
    done = resume_file(file, source, chosen, as_line)
    return f"{_questions(done.questions)} in {plain(str(file))}, {done.before} of them from before"


def _questions(count: int) -> str:
    return f"{count} question{'' if count == 1 else 's'}"


def write_json(found: Iterable[EvidencePath]) -> int:
    """Print one object a line, each as soon as it is known; returns how many."""
    count = 0
    for count, path in enumerate(found, 1):  # noqa: B007  # the count is the result
        sys.stdout.write(as_line(path))
    return count


def as_line(path: EvidencePath) -> str:
    """The path JSON as one line that is harmless in a terminal."""
    document = to_json(path)
    try:
        text = orjson.dumps(document).decode()
    except TypeError:  # a lone surrogate or an integer beyond 64 bits, from a file that is not telemetry
        text = json.dumps(document, allow_nan=False)
    return safe_json(text) + "\n"


def _show(found: Iterable[EvidencePath]) -> int:
    console = Console(highlight=False, markup=False, emoji=False)
    count = 0
    for count, path in enumerate(found, 1):  # noqa: B007  # the count is the result
        console.print(view(path))
    return count
