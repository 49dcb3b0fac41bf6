"""`rag-probe cases check`: a register that scoring would accept, and labels that the corpus still knows."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated, Final

import typer

from rag_probe_collector.register import load_cases, load_corpus, vanished, visible

_Cases = Annotated[Path, typer.Argument(metavar="FILE", help="The labelled cases: JSONL, JSON or YAML.")]
_Corpus = Annotated[Path | None, typer.Option(metavar="FILE", help="The corpus manifest that the labels are about.")]

cases: Final = typer.Typer(rich_markup_mode=None)


@cases.callback()
def _cases() -> None:
    """Check a register of labelled cases."""


@cases.command()
def check(file: _Cases, *, corpus: _Corpus = None) -> int:
    """Read a register strictly. Exits 0, 1 when labels name ids that vanished from the corpus, 2 when unusable."""
    manifest = None if corpus is None else load_corpus(corpus)
    register = load_cases(file, manifest)
    for warning in register.warnings:
        typer.echo(f"rag-probe: warning: {visible(warning)}", err=True)
    for name, counts in (
        ("segment", Counter(case.segment for case in register.cases)),
        ("split", Counter(case.split or "none" for case in register.cases)),
        ("answerable", Counter("yes" if case.answerable else "no" for case in register.cases)),
    ):
        typer.echo(f"{name:11}" + ", ".join(f"{visible(value)} {count}" for value, count in counts.items()))
    gone = {} if manifest is None else {case.id: vanished(case, manifest) for case in register.cases}
    lost = sum(map(bool, gone.values()))
    typer.echo(f"{'cases':11}{len(register.cases)}" + (f", {lost} with ids that vanished" if lost else ""))
    return int(lost > 0)
