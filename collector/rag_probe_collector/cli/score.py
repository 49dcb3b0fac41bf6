"""`rag-probe score`: evidence paths against labelled cases, to a gated report."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

import typer

from rag_probe.protocols import SourceOptions
from rag_probe_collector.cli.progress import progress_bar
from rag_probe_collector.cli.selection import Attribute, Limit, Service, Since, Trace, Until, selection
from rag_probe_collector.cli.terminal import safe_json
from rag_probe_collector.errors import InputError
from rag_probe_collector.gate import ReportJson
from rag_probe_collector.gate.evaluate import Request, evaluate
from rag_probe_collector.register import Split
from rag_probe_collector.reports import dump, print_report, write_reports
from rag_probe_collector.sources import open_source
from rag_probe_collector.sources.spec import without_password

_Source = Annotated[str, typer.Argument(metavar="SOURCE", help="spool:FILE, otlp:FILE, results:FILE, or a path.")]
_Cases = Annotated[Path, typer.Option(metavar="FILE", help="The labelled cases: JSONL, JSON or YAML.")]
_Corpus = Annotated[Path | None, typer.Option(metavar="FILE", help="The corpus manifest that the labels are about.")]
_Reviews = Annotated[Path | None, typer.Option(metavar="FILE", help="Reviews of the answers.")]
_Thresholds = Annotated[Path | None, typer.Option(metavar="FILE", help="What a release must reach.")]
_Experiment = Annotated[str | None, typer.Option(metavar="ID", help="Which run, when the source holds several.")]
_Split = Annotated[str | None, typer.Option(metavar="NAME", help="Only the cases of dev, validation or test.")]
_Out = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Write report.{json,md,html}, junit.xml and paths.jsonl.")
]
_Json = Annotated[bool, typer.Option("--json", help="Print the report as JSON and nothing else.")]
_Content = Annotated[bool, typer.Option("--with-content", help="Put questions, answers and notes into the report.")]
_Change = Annotated[str | None, typer.Option(metavar="TEXT", help="What was changed; the report says it.")]
_TraceUrl = Annotated[
    str | None, typer.Option(metavar="TEMPLATE", help="Link to a saved trace, as https://jaeger/trace/{trace_id}.")
]
_Map = Annotated[Path | None, typer.Option("--map", metavar="FILE", help="For checkpoints: how state is read.")]
_Traces = Annotated[str | None, typer.Option(metavar="SOURCE", help="For checkpoints: traces to join.")]


def score(
    source: _Source,
    *,
    cases: _Cases,
    corpus: _Corpus = None,
    reviews: _Reviews = None,
    thresholds: _Thresholds = None,
    experiment: _Experiment = None,
    split: _Split = None,
    out: _Out = None,
    as_json: _Json = False,
    with_content: _Content = False,
    change: _Change = None,
    trace_url: _TraceUrl = None,
    mapping: _Map = None,
    traces: _Traces = None,
    service: Service = None,
    since: Since = None,
    until: Until = None,
    trace: Trace = None,
    attribute: Attribute = None,
    limit: Limit = None,
) -> int:
    """Score a source against labelled cases.

    Exits 0 pass, 1 gate failed, 2 unusable input, 3 incomplete, 4 only reviews pending.
    """
    request = Request(
        source=without_password(source),
        cases=cases,
        corpus=corpus,
        reviews=reviews,
        thresholds=thresholds,
        experiment=experiment,
        split=_split(split),
        change=change,
        trace_url=_template(trace_url),
        with_content=with_content,
    )
    chosen = selection(service=service, since=since, until=until, trace=trace, attribute=attribute, limit=limit)
    with progress_bar(alone=True) as progress:
        opened = open_source(source, SourceOptions(mapping=mapping, traces=traces, progress=progress))
        report, paths = evaluate(request, opened, chosen, datetime.now(UTC))
    if out is not None:
        write_reports(out, report, paths)
    show(report, as_json=as_json)
    return report["exit_code"]


def show(report: ReportJson, *, as_json: bool) -> None:
    """The report on stdout: as a table for people, or as the JSON alone."""
    if as_json:
        sys.stdout.write(safe_json(dump(report).decode()) + "\n")
    else:
        print_report(report)


def _split(text: str | None) -> Split | None:
    match text:
        case None | "dev" | "validation" | "test":
            return text
        case _:
            raise InputError(f"--split {text!r}: expected dev, validation or test")


def _template(text: str | None) -> str | None:
    """A template becomes a link in a page, so only a web address will do."""
    if text is None:
        return None
    if not _is_web_address(text) or "{trace_id}" not in text:
        raise InputError(f"--trace-url {text!r}: expected a web address with {{trace_id}} in it")
    return text


def _is_web_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.netloc)
