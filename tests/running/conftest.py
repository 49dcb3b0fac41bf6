"""One collector per test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_probe_collector.receiver import Collector, Limits

from .arrived import Arrived


@pytest.fixture
def arrived(tmp_path: Path) -> Iterator[Arrived]:
    """What programs of this test send; a collector of its own, on free ports."""
    spool = tmp_path / "spool.db"
    with Collector(spool, limits=Limits(commit_seconds=100)) as collector:
        yield Arrived(spool, collector)
