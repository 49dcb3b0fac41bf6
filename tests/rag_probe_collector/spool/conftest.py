"""A slow disk is no failure here."""

import pytest


@pytest.fixture(autouse=True)
def _patient(monkeypatch):
    """Whoever finds the file locked waits for it, however long the other one takes."""
    monkeypatch.setattr("rag_probe_collector.spool.file._BUSY_SECONDS", 100)
