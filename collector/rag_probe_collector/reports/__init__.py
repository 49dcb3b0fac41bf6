"""What is written to `--out`: one file each, one line here. Each renders the same object, redacted once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final

from rag_probe.path import EvidencePath
from rag_probe_collector.errors import InputError
from rag_probe_collector.gate import ReportJson
from rag_probe_collector.register import visible
from rag_probe_collector.reports.dump import dump
from rag_probe_collector.reports.html import html
from rag_probe_collector.reports.junit import junit
from rag_probe_collector.reports.markdown import markdown
from rag_probe_collector.reports.paths_jsonl import paths_jsonl
from rag_probe_collector.reports.terminal import print_report

__all__ = ["REPORTS", "dump", "html", "junit", "markdown", "paths_jsonl", "print_report", "write_reports"]

REPORTS: Final[Mapping[str, Callable[[ReportJson], bytes]]] = {
    "report.json": lambda report: dump(report, indent=True),
    "report.md": markdown,
    "report.html": html,
    "junit.xml": junit,
}


def write_reports(directory: Path, report: ReportJson, paths: Iterable[EvidencePath]) -> None:
    """Every report and paths.jsonl, content only where the report has it; raises `InputError`."""
    texts = {name: render(report) for name, render in REPORTS.items()}
    texts["paths.jsonl"] = paths_jsonl(paths, with_content=report["about"]["with_content"])
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            (directory / name).write_bytes(text)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(f"--out {visible(str(directory))}: cannot be written: {reason}") from None
