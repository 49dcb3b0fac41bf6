"""Stores that older releases of LangGraph wrote give the same path (issue C, Rebuild; formats 1 to 4)."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest
from langgraph.graph import START, StateGraph

from .stores import Kept, kept, read
from .test_turns import CONFIG

GOLDEN = Path(__file__).parent / "golden"
NODES = ["retrieve", "grade", "grade", "grade", "gather", "assemble", "build", "draft"]


@pytest.mark.parametrize("release", ["0.2.39", "0.3.34", "0.5.4", "1.0.0"])
def test_the_same_path_from_each(release, tmp_path, caplog):
    file = Path(shutil.copy(GOLDEN / f"langgraph-{release}.db", tmp_path / "old.db"))
    (path,) = read(Kept(None, f"sqlite:///{file}"))
    assert (path.question.text, path.answer.content.text) == ("How long?", "Ten days. [d1]")
    assert (path.retrieved.ids, path.filtered.kept) == (("d0", "d1", "d2"), ("d0", "d1"))
    assert (path.context.ids, path.citations.ids) == (("d0", "d1"), ("d1",))
    assert [step.stage.name for step in path.nodes] == NODES
    assert path.nodes[-1].stage.outcome == ("ok" if release == "0.2.39" else "answered")
    assert (path.partial, path.warnings) == (False, ())
    assert path.tags.case_id == (None if release == "0.2.39" else "c-a")  # it kept no metadata of the caller's
    said = "'question': question, 'documents': retrieved then filtered, 'kept': filtered, 'context': context, 'answer'"
    assert f"channels are read as {said}: answer; nothing is read from 'graded' (" in caplog.text


def test_that_a_node_waits_for_several_is_no_answer_of_them(tmp_path, caplog):
    """LangGraph says it in a channel of its own, as text: the name of the node that has run."""

    class State(TypedDict, total=False):
        question: str
        reply: Annotated[str, lambda old, new: new or old]

    def pair(saver: Any) -> Any:
        built = StateGraph(State)
        for name in ("look", "think"):
            built.add_node(name, lambda state: {"reply": "Yes."})
        built.add_node("end", lambda state: {})
        built.add_edge(START, "look")
        built.add_edge(START, "think")
        built.add_edge(["look", "think"], "end")
        return built.compile(checkpointer=saver)

    for durability in ("sync", "exit"):
        with kept("sqlite", tmp_path) as store:
            pair(store.saver).invoke({"question": "q"}, CONFIG, durability=durability)
            *_, path = read(store)
        assert path.answer.content.text == "Yes."
    assert "join" not in caplog.text
