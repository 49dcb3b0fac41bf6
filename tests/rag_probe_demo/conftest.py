"""Both apps are run once for all tests here."""

from __future__ import annotations

import pytest

from rag_probe.path import EvidencePath
from tests.sample_apps import paths_of, record


@pytest.fixture(scope="session")
def paths() -> dict[str, EvidencePath]:
    """The evidence path of every case."""
    return {name: path for app in ("security", "returns") for name, path in paths_of(record(app)).items()}
