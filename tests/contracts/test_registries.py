"""No registry names a thing twice, so that an addition never silently replaces what was there. Part of `make check`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from importlib.metadata import entry_points

import pytest

from rag_probe import attributes
from rag_probe.protocols import SOURCES
from rag_probe_collector.cli.program import COMMANDS
from rag_probe_collector.dialects import DIALECTS
from rag_probe_collector.metrics import FAMILIES, METRICS
from rag_probe_collector.reports import REPORTS
from rag_probe_collector.scoring.beside import BESIDE
from rag_probe_collector.scoring.broken import ROWS
from rag_probe_collector.scoring.violations import CHECKS
from rag_probe_collector.sources import BUILT_IN

REGISTRIES: dict[str, Iterable[str]] = {
    "attributes": [value for name, value in vars(attributes).items() if name.isupper()],
    "commands": [command.name for command in COMMANDS],
    "dialects": [dialect.name for dialect in DIALECTS],
    "findings": [*CHECKS, *(look.__name__ for look in BESIDE)],
    "metrics": [*(metric.name for metric in METRICS), *FAMILIES],
    "reports": [*REPORTS],
    "rows of the broken stage": [getattr(row, "__name__", repr(row)) for row in ROWS],
    "sources": [*BUILT_IN, *(entry.name for entry in entry_points(group=SOURCES))],
}


@pytest.mark.parametrize("registry", REGISTRIES)
def test_it_has_no_duplicates(registry: str) -> None:
    names = Counter(REGISTRIES[registry])
    assert names
    assert not [name for name, times in names.items() if times > 1]
