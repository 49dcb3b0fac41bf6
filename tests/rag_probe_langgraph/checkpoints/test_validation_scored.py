"""A draft → validate loop, from its SQLite store to the report: right, a bad draft passed, a good one refused."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any, Final, TypedDict

import pytest
from langchain_core.documents import Document
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph

from rag_probe.policy import CapturePolicy
from rag_probe_collector.cli.main import main
from tests.rag_probe_langchain.apps import as_text, passages

GOOD: Final = "Goods can be sent back within thirty days [1]."
BETTER: Final = "You have thirty days from delivery to send goods back [1]."
BAD: Final = "Goods can be sent back within ninety days [1]."
KEY: Final = b"a secret of ours"


class State(TypedDict, total=False):
    question: str
    documents: list[Document]
    context: str
    draft: str
    valid: bool
    answer: str


def app(saver: Any, drafts: list[str], verdicts: list[bool]) -> Any:
    """retrieve → assemble → draft → validate, back until it passes → send."""
    texts, said = iter(drafts), iter(verdicts)

    def retrieve(state: State) -> State:
        return {"documents": passages("returns")}

    def assemble(state: State) -> State:
        return {"context": as_text(state["documents"])}

    def draft(state: State) -> State:
        return {"draft": next(texts)}

    def validate(state: State) -> State:
        return {"valid": next(said)}

    def send(state: State) -> State:
        return {"answer": state["draft"]}

    built = StateGraph(State)
    built.add_sequence([retrieve, assemble, draft, validate])
    built.add_node("send", send)
    built.add_edge(START, "retrieve")
    built.add_conditional_edges("validate", lambda state: "send" if state["valid"] else "draft", ["send", "draft"])
    built.add_edge("send", END)
    return built.compile(checkpointer=saver)


CASES: Final = {
    "right": ([BAD, GOOD], [False, True]),
    "bad-passed": ([BAD], [True]),
    "good-refused": ([GOOD, BETTER], [False, True]),
}


@pytest.fixture
def desk(tmp_path, monkeypatch) -> Path:
    """The store of three questions, their cases, and reviews of every draft, bound by digest."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RAG_PROBE_DIGEST_KEY", KEY.decode())
    with closing(sqlite3.connect("checkpoints.db", check_same_thread=False)) as connection:
        for thread, (drafts, verdicts) in CASES.items():
            asked = {"question": "How long can I send goods back?", "valid": False}
            app(SqliteSaver(connection), drafts, verdicts).invoke(asked, {"configurable": {"thread_id": thread}})
    labels = {"segment": "s", "tenant": "acme", "question": "?", "answerable": True}
    ids = {"gold_ids": ["returns"], "allowed_ids": ["returns"]}
    Path("cases.yaml").write_text(json.dumps([{"id": name, **labels, **ids} for name in CASES]), encoding="utf-8")
    digest = CapturePolicy(digest_key=KEY).digest
    reviews = [
        {
            "case_id": name,
            "answer_digest": digest(text),
            "total_claims": 1,
            "supported_claims": int(text != BAD),
            "reviewer": "kim",
        }
        for name, (drafts, _) in CASES.items()
        for text in drafts
    ]
    Path("reviews.yaml").write_text(json.dumps(reviews), encoding="utf-8")
    return tmp_path


def score(*arguments: str) -> int:
    with pytest.raises(SystemExit) as end:
        main(["score", "checkpoints:sqlite:///checkpoints.db", "--cases", "cases.yaml", "--out", "report", *arguments])
    return int(end.value.code or 0)


def report() -> dict[str, Any]:
    return {row["id"]: row for row in json.loads(Path("report/report.json").read_bytes())["cases"]}


def wrong(row: dict[str, Any]) -> list[str]:
    return [each["reason"] for each in row["findings"] if each["finding"] == "wrong_verdict"]


def test_each_case_says_whether_its_validation_was_right(desk):
    assert score("--reviews", "reviews.yaml") == 1
    rows = report()
    assert [(each["passed"], each["good"], each["right"]) for each in rows["right"]["verdicts"]] == [
        (False, False, True),
        (True, True, True),
    ]
    assert (rows["right"]["broken_stage"], rows["right"]["verdict"], wrong(rows["right"])) == ("none", "pass", [])
    assert rows["right"]["metrics"]["verdict_accuracy"]["value"] == 1.0

    passed = rows["bad-passed"]
    assert (passed["broken_stage"], passed["mechanism"]) == ("generation", "unsupported_claim")
    assert wrong(passed) == ["validate passed a bad draft in step 4"]

    refused = rows["good-refused"]
    assert (refused["broken_stage"], refused["mechanism"]) == ("validation", "wrong_verdict")
    assert wrong(refused) == ["validate refused a good draft in step 4"]
    assert refused["metrics"]["verdict_accuracy"]["value"] == 0.5


def test_retries_are_told_as_far_as_the_store_knows_them(desk):
    score()
    rows = report()
    again = {"total": 2, "nodes": {"draft": 1, "validate": 1}, "complete": False}
    assert [rows[name]["retries"] for name in CASES] == [again, {"total": 0, "nodes": {}, "complete": False}, again]
    names = [each["name"] for each in rows["right"]["nodes"]]
    assert names == ["retrieve", "assemble", *["draft", "validate"] * 2, "send"]


def test_every_report_shows_it_and_no_draft_leaves_unasked(desk):
    score("--reviews", "reviews.yaml")
    page, text = (Path("report", name).read_text(encoding="utf-8") for name in ("report.html", "report.md"))
    for words in ("refused a good draft", "passed a bad draft"):
        assert words in page
        assert words in text
    assert "at least 2: draft 1, validate 1" in page
    everything = "".join(each.read_text(encoding="utf-8") for each in Path("report").iterdir())
    assert "days" not in everything


def test_without_reviews_nothing_is_decided(desk):
    """Null is never a pass."""
    assert score() == 4
    for row in report().values():
        assert {each["right"] for each in row["verdicts"]} == {None}
        assert wrong(row) == []
        assert row["metrics"]["verdict_accuracy"]["value"] is None
        assert "undecided" in row["metrics"]["verdict_accuracy"]["reason"]


def test_without_a_key_the_answers_review_still_counts_for_the_draft_that_became_it(desk, monkeypatch):
    """Nothing of a text leaves, so that only the source can say that the two are the same."""
    monkeypatch.delenv("RAG_PROBE_DIGEST_KEY")
    score()
    reviews = [
        {"case_id": name, "path_id": row["path_id"], "total_claims": 1, "supported_claims": 0, "reviewer": "kim"}
        for name, row in report().items()
    ]
    Path("bound.yaml").write_text(json.dumps(reviews), encoding="utf-8")
    score("--reviews", "bound.yaml")
    assert [each["right"] for each in report()["right"]["verdicts"]] == [None, False]


def test_paths_show_each_verdict(desk, capsys):
    with pytest.raises(SystemExit):
        main(["paths", "checkpoints:sqlite:///checkpoints.db", "--limit", "1"])
    out = " ".join(capsys.readouterr().out.split())
    assert f"validate refused in step 4: {len(BAD)} characters, held back" in out
    assert f"validate passed in step 6: {len(GOOD)} characters, held back" in out
