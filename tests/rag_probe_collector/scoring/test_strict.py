"""The strict scorer against the independent re-statement, from file to report (checklist C, 49, 57)."""

from __future__ import annotations

import json
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from rag_probe.protocols import Selection, SourceOptions
from rag_probe_collector.gate.evaluate import Request, evaluate
from rag_probe_collector.sources.results import open_results
from tests.rag_probe_collector.scoring.naive import naive, naive_gate

ids = st.lists(st.sampled_from(["a", "b", "c", "ä", "d e", ""]), unique=True, max_size=4)


@st.composite
def suites(draw):
    """Cases and the result of each, in different orders."""
    names = draw(st.lists(st.text(min_size=1, max_size=4).filter(str.strip), min_size=1, max_size=4, unique=True))
    cases = [draw(one_case(name)) for name in names]
    results = [draw(one_result(case)) for case in draw(st.permutations(cases))]
    return cases, results


@st.composite
def one_case(draw, name):
    allowed = draw(ids)
    gold = draw(st.lists(st.sampled_from(allowed), unique=True)) if allowed else []
    return {
        "id": name,
        "segment": draw(st.sampled_from(["s", "t"])),
        "tenant": "acme",
        "question": "?",
        "allowed_ids": allowed,
        "gold_ids": gold,
        "answerable": bool(gold),
    }


@st.composite
def one_result(draw, case):
    total = draw(st.integers(1, 3))
    review = {"total_claims": total, "supported_claims": draw(st.integers(0, total)), "reviewer": "mira"}
    right = draw(st.booleans())  # random ids alone hardly ever pass
    evidence = case["gold_ids"]
    return {
        "id": case["id"],
        "retrieved_ids": evidence if right else draw(ids),
        "prompt_ids": evidence if right else draw(ids),
        "answer": ("yes" if evidence else "") if right else draw(st.sampled_from(["", " \n\t", "\u2003", "x", " y "])),
        "citations": evidence if right else draw(ids),
        "review": {**review, "supported_claims": total} if right else draw(st.none() | st.just(review)),
    }


@given(suites())
def test_every_row_and_the_gate_are_what_the_checklist_says(tmp_path_factory, suite):
    cases, results = suite
    home = tmp_path_factory.getbasetemp()
    (home / "cases.jsonl").write_text("\n".join(map(json.dumps, cases)), encoding="utf-8")
    (home / "results.jsonl").write_text("\n".join(map(json.dumps, results)), encoding="utf-8")
    source = open_results(str(home / "results.jsonl"), SourceOptions())
    request = Request(source="results", cases=home / "cases.jsonl")
    report, _ = evaluate(request, source, Selection(), datetime.now(UTC))

    by_id = {result["id"]: result for result in results}
    right = [naive(case, by_id[case["id"]]) for case in cases]
    assert [{name: row[name] for name in right[0]} for row in report["cases"]] == right
    assert (report["gate"] == "PASS") == naive_gate(right)
    assert (report["gate"] == "PASS") == (report["exit_code"] == 0)
    assert report["case_count"] == len(cases)
    for name, segment in report["segments"].items():
        mine = [case for case in cases if case["segment"] == name]
        assert segment["answerable_cases"] == sum(case["answerable"] for case in mine)
        assert (segment["mean_evidence_recall"] is None) == (not segment["answerable_cases"])
