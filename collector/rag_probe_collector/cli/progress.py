"""How far a source has been read: a bar on stderr for whoever sits in front of it, nothing for a file or a pipe."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from rag_probe.protocols import Progress


@contextmanager
def progress_bar(*, alone: bool) -> Generator[Progress | None]:
    """Whom to tell; None where nobody would see it. `alone`: whether nothing else is printed meanwhile."""
    if not alone or not sys.stderr.isatty():
        yield None
        return
    columns = (TextColumn("threads"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    # rich would send stdout to its console, too
    with Bar(*columns, console=Console(stderr=True), transient=True, redirect_stdout=False) as bar:
        task = bar.add_task("threads", total=None, visible=False)
        yield lambda done, total: bar.update(task, completed=done, total=total, visible=True)
