"""Both apps run as they are, and their evidence paths hold what happened."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion

from rag_probe.path import EvidencePath
from rag_probe_demo.corpus import DATA
from rag_probe_demo.models import chat_model
from rag_probe_demo.questions import load_questions
from rag_probe_demo.returns import SORRY, ReturnsAssistant
from rag_probe_demo.security import Caller, SecurityAssistant

CASES = [question.case_id for app in ("security", "returns") for question in load_questions(app).each]


def test_every_question_is_one_path(paths: dict[str, EvidencePath]) -> None:
    assert [*paths] == CASES


@pytest.mark.parametrize("case_id", CASES)
def test_the_path(paths: dict[str, EvidencePath], case_id: str, snapshot: SnapshotAssertion) -> None:
    assert _outline(paths[case_id]) == snapshot


def test_limit_and_use_of_the_budget_are_in_one_unit(paths: dict[str, EvidencePath]) -> None:
    budget = paths["truncated"].budget
    assert budget is not None
    assert (budget.limit, budget.used, budget.tokenizer) == (36, 36, "words")


def test_costs_are_known_and_a_refused_draft_is_paid_for(paths: dict[str, EvidencePath]) -> None:
    assert all((path.cost_usd or 0) > 0 for path in paths.values())
    assert len(paths["label"].generations or ()) == 2


def test_no_text_leaves_with_content_off(paths: dict[str, EvidencePath]) -> None:
    """contracts 3."""
    for path in paths.values():
        assert path.question is not None
        assert path.question.text is None
        assert path.answer is not None
        assert path.answer.content is not None
        assert path.answer.content.text is None
        assert path.retrieved is not None
        assert not any(path.retrieved.texts)


@pytest.mark.asyncio
async def test_apps_answer_without_any_callback_also_streamed_and_async() -> None:
    caller = Caller(subject="ada", tenant="northwind", role="analyst")
    chain = SecurityAssistant(chat_model(None), caller).chain()
    question = {"question": "Do passwords expire?"}
    answer = chain.invoke(question)
    assert "".join(chain.stream(question)) == answer
    assert await chain.ainvoke(question) == answer
    graph = ReturnsAssistant(chat_model(None)).graph()
    assert (await graph.ainvoke({"question": "Where is Elvis?"}))["answer"] == SORRY


def test_the_data_is_beside_the_code() -> None:
    assert {file.name for file in DATA.iterdir()} == {
        "cases.yaml",
        "corpus.json",
        "planted.json",
        "reviews.yaml",
        "script.json",
    }


def _outline(path: EvidencePath) -> dict[str, object]:
    """What a reader wants to see of a path, without ids and times of the run."""
    steps = path.retrievals or ()
    return {
        "retrieved": None if path.retrieved is None else list(path.retrieved.ids),
        "candidates": [list(step.stage.candidates.ids) for step in steps if step.stage.candidates is not None],
        "denied": [f"{row.id}: {row.reason}" for row in path.permissions or () if row.decision == "deny"],
        "filtered out": [row.id for row in path.filtered.dropped] if path.filtered else None,
        "context": None if path.context is None else list(path.context.ids),
        "kept": None if path.context is None else [list(ranges) for ranges in path.context.kept],
        "dropped": None if path.context is None else list(path.context.dropped),
        "outcome": None if path.answer is None else path.answer.outcome,
        "citations": None if path.citations is None else list(path.citations.ids),
        "nodes": [step.stage.name for step in path.nodes or ()],
    }
