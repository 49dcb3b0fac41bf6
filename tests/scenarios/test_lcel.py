"""LCEL chains: whole span trees (issue B)."""

from __future__ import annotations

import pytest

from tests.rag_probe_langchain.apps import rag
from tests.scenarios.modes import MODES
from tests.scenarios.recording import Recording, ticking


@pytest.mark.parametrize("mode", MODES)
def test_a_rag_chain(mode, snapshot):
    recording = Recording()
    with ticking():
        MODES[mode](rag(), "How long do I have?", {"callbacks": [recording.handler]})
    assert recording.tree(parallel=True) == snapshot
