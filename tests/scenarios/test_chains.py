"""Chains of langchain_classic: whole span trees, equal in every calling mode, and their paths (issue B)."""

from __future__ import annotations

import pytest

from tests.scenarios.chains import CHAINS
from tests.scenarios.modes import MODES
from tests.scenarios.recording import Recording, paths_of, ticking

pytestmark = pytest.mark.filterwarnings(
    "ignore::langchain_core._api.LangChainDeprecationWarning", "ignore:The a?apply_and_parse method:UserWarning"
)
SAME = [mode for mode in MODES if mode != "invoke"]
SHARED = (
    "RetrievalQA, refined",
    "RetrievalQA, refined from short drafts",
    "RetrievalQA, ranked",
    "RetrievalQA, reduced",
)
"""Each call saw one passage, and perhaps what others made of theirs; which ranked call answered is a guess."""
ALL = ("returns", "sale", "gift")


def ask(name, mode="invoke"):
    make, asked = CHAINS[name]
    recording = Recording()
    with ticking():
        MODES[mode](make(), asked, {"callbacks": [recording.handler]})
    return recording


@pytest.mark.parametrize("name", CHAINS)
def test_the_tree_is_the_same_however_it_is_asked(name, snapshot):
    tree = ask(name).tree(parallel=True)
    assert tree == snapshot
    for mode in SAME:
        assert ask(name, mode).tree(parallel=True) == tree


@pytest.mark.parametrize("name", CHAINS)
def test_the_last_model_wrote_the_answer(name):
    (path,) = paths_of(ask(name).spans)
    assert path.retrieved.ids == ALL
    assert path.answer_generation == len(path.generations) - 1
    assert path.context.ids == (("gift",) if name == "RetrievalQA, ranked" else ALL)
    assert ("context" in path.inferred) is (name in SHARED)
    assert {step.stage.context.dropped for step in path.generations if step.stage.context is not None} == {()}
    assert path.answer.outcome == "answered"
    assert path.filtered is path.reranked is None
