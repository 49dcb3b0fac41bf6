"""`rag-probe score` on captured results: worked values, what must fail, what must pass, exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rag_probe_collector.cli.main import main
from rag_probe_collector.cli.program import run
from tests.rag_probe_collector.gate.suite import GOOD, SILENT, good, report, write

WORKED = Path(__file__).parent / "worked"


def test_worked_values(capsys):
    """Checklist, worked values, through the command line."""
    code, found = report(
        capsys,
        "score",
        f"results:{WORKED / 'results.yaml'}",
        f"--cases={WORKED / 'cases.yaml'}",
        f"--reviews={WORKED / 'reviews.yaml'}",
    )
    windows, leave, silent = found["cases"]
    assert code == 1
    assert windows["metrics"]["requirement_recall@retrieved"]["value"] == 1
    assert windows["metrics"]["requirement_recall@context"]["value"] == 1
    assert windows["metrics"]["chunk_precision"] == {
        "value": pytest.approx(2 / 3),
        "numerator": 2,
        "denominator": 3,
        "n": 3,
        "reason": None,
    }
    assert windows["metrics"]["claim_correctness"]["value"] == 1
    assert windows["metrics"]["claim_context_support"]["value"] == 1
    assert windows["metrics"]["citation_precision_support"]["value"] == 0.5
    assert windows["metrics"]["citation_validity"]["value"] == 1
    assert (windows["violations"], windows["broken_stage"], windows["mechanism"]) == (
        ["unsupported_claim"],
        "citation",
        "mis_cited",
    )
    assert leave["evidence_recall"] == 1
    assert leave["metrics"]["citation_precision_evidence"]["value"] == 1
    assert leave["supported_fraction"] == pytest.approx(0.667, abs=5e-4)
    assert (silent["verdict"], silent["violations"], silent["abstention_correct"]) == ("pass", [], True)
    assert found["about"]["splits"] == {"test": 3}
    assert found["about"]["dataset_version"] == "worked-1"
    assert "certification" in found["note"]


def test_it_passes(tmp_path, capsys):
    """Checklist 57, worked values: PASS is exit 0."""
    code, found = report(capsys, *write(tmp_path, *zip(good(), (SILENT["case"], SILENT["result"]), strict=True)))
    assert (code, found["gate"], found["case_count"]) == (0, "PASS", 2)
    assert found["segments"] == {"s": {"cases": 2, "answerable_cases": 1, "mean_evidence_recall": 1.0}}
    assert {
        name: found["cases"][0][name] for name in ("id", "segment", "evidence_recall", "prompt_evidence_recall")
    } == {
        "id": "good",
        "segment": "s",
        "evidence_recall": 1.0,
        "prompt_evidence_recall": 1.0,
    }


MUST_FAIL = {
    "a foreign chunk in retrieval only": (good(retrieved_ids=["a", "b"]), 1, "scope_leak"),
    "an unsupported claim": (
        good(review={"total_claims": 2, "supported_claims": 1, "reviewer": "mira"}),
        1,
        "unsupported_claim",
    ),
    "a missing review": (good(review=None), 4, "review_pending"),
    "a fabricated citation": (good(citations=["a", "nowhere"]), 1, "invalid_citation"),
    "an answer without a citation": (good(citations=[]), 1, "answer_evidence_mismatch"),
    "a needless silence": (good(answer="", citations=[], review=None), 1, "false_abstention"),
    "a pinned passage": (good(prompt_ids=["a", "c"]), 1, "prompt_outside_retrieval"),
    "an answer that should be silence": ((SILENT["case"], {**GOOD["result"], "id": "silent"}), 1, "should_abstain"),
    "a revoked permission": (
        ({**GOOD["case"], "allowed_ids": ["c"], "gold_ids": [], "answerable": False}, good()[1]),
        1,
        "scope_leak",
    ),
}


@pytest.mark.parametrize(("pair", "code", "violation"), MUST_FAIL.values(), ids=MUST_FAIL.keys())
def test_the_gate_must_fail(tmp_path, capsys, pair, code, violation):
    """Checklist 62 to 65: the prose may be unchanged."""
    found_code, found = report(capsys, *write(tmp_path, [pair[0]], [pair[1]]))
    assert (found_code, found["gate"]) == (code, "FAIL")
    assert violation in found["cases"][0]["violations"]


def test_a_skipped_case_is_incomplete(tmp_path, capsys):
    """Checklist 51, 62: exit 3, and the case is named."""
    code, found = report(capsys, *write(tmp_path, [GOOD["case"], SILENT["case"]], [GOOD["result"]]))
    assert (code, found["gate"]) == (3, "FAIL")
    assert found["missing"] == [{"id": "silent", "segment": "s", "answerable": False, "repetition": None}]


def test_recall_below_the_minimum_fails_without_any_violation(tmp_path, capsys):
    """Checklist 49: 0.5 where 0.9 is asked."""
    labelled = {**GOOD["case"], "gold_ids": ["a", "c"]}
    code, found = report(capsys, *write(tmp_path, [labelled], [GOOD["result"]]))
    assert code == 1
    assert found["cases"][0]["violations"] == []
    assert found["reasons"] == ["segment s: mean recall 0.500 is below 0.9"]


UNUSABLE = {
    "an extra result": ([GOOD["case"]], [GOOD["result"], SILENT["result"]], "expected a case of"),
    "a result twice": ([GOOD["case"]], [GOOD["result"]] * 2, "expected one result, got"),
    "a case twice": ([GOOD["case"]] * 2, [GOOD["result"]], "expected each id once"),
    "no case": ([], [GOOD["result"]], "expected at least one case"),
    "no result": ([GOOD["case"]], [], "expected at least one result"),
    "two experiments": (
        [GOOD["case"]],
        [{**GOOD["result"], "experiment": each} for each in ("e", "f")],
        "expected --experiment to be one of: e, f",
    ),
}


@pytest.mark.parametrize(("cases", "results", "message"), UNUSABLE.values(), ids=UNUSABLE.keys())
def test_unusable_input_is_exit_2_and_one_line(tmp_path, capsys, cases, results, message):
    """Checklist 51 to 53; contracts 6."""
    refused(capsys, write(tmp_path, cases, results), message)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--trace-url=javascript:alert({trace_id})", "--trace-url"),
        ("--trace-url=https://jaeger/", "--trace-url"),
        ("--trace-url=http://[{trace_id}", "--trace-url"),
        ("--split=train", "--split"),
        ("--split=test", "expected cases of the split test, got none"),
        ("--experiment=other", "expected --experiment to be one of"),
        ("--corpus=absent.json", "absent.json: cannot be read"),
        ("--since=1h", "captured results have no service, trace or time"),
        ("--nothing=1", "No such option"),
    ],
)
def test_unusable_arguments_are_exit_2_and_one_line(tmp_path, capsys, option, message):
    refused(capsys, [*write(tmp_path, *[[each] for each in good()]), option], message)


@pytest.mark.parametrize("option", ["cases", "corpus", "reviews", "thresholds", "results"])
@pytest.mark.parametrize("text", ['[{"id": NaN}]', '{"id": "\\ud800"}', "- [}", "- {a: *b}"])
def test_any_malformed_file_is_exit_2_and_one_line(tmp_path, capsys, option, text):
    """Contracts 6, checklist 51: never a traceback, never a partial pass."""
    arguments = write(tmp_path, *[[each] for each in good()])
    (tmp_path / "bad").write_text(text)
    if option == "results":
        arguments[1] = f"results:{tmp_path / 'bad'}"
    refused(capsys, [*arguments, *([] if option == "results" else [f"--{option}={tmp_path / 'bad'}"])], "bad")


def test_the_report_warns_of_what_makes_it_doubtful(tmp_path, capsys):
    """Checklist 4, 50, 66: versions that differ, reviews of unknown cases, fields that look misspelt."""
    case, result = good(dataset_version="d2", corpus_version="c1")
    arguments = write(tmp_path, [], [result])
    register = {"dataset_version": "d1", "corpus_version": "c1", "cases": [{**case, "expected_outcom": "answered"}]}
    (tmp_path / "cases.json").write_text(json.dumps(register))
    arguments[2] = f"--cases={tmp_path / 'cases.json'}"
    corpus = tmp_path / "corpus.json"
    corpus.write_text(json.dumps({"corpus_version": "c2", "chunks": [{"id": "a"}, {"id": "c"}]}))
    reviews = tmp_path / "reviews.json"
    reviews.write_text(
        json.dumps([{"case_id": "gone", "path_id": "x", "total_claims": 1, "supported_claims": 1, "reviewer": "m"}])
    )
    code, found = report(capsys, *arguments, f"--corpus={corpus}", f"--reviews={reviews}")
    assert code == 0
    text = "\n".join(found["about"]["warnings"])
    assert "'expected_outcom' is ignored; is 'expected_outcome' meant?" in text
    assert "the register is about corpus c1, the manifest is c2" in text
    assert "the register is about dataset d1, some answers are about d2" in text
    assert "reviews of cases that are not in the register: gone" in text


def refused(capsys, arguments, message):
    with pytest.raises(SystemExit) as exit_:
        main(arguments)
    shown = capsys.readouterr()
    assert exit_.value.code == 2
    assert shown.out == ""
    assert shown.err.count("\n") == 1
    assert message in shown.err


def test_repetitions_are_rows_and_any_that_fails_fails(tmp_path, capsys):
    """Checklist 71, contracts 5: never the best run; recall is averaged per case first."""
    case, result = good()
    other = {**case, "id": "other"}
    results = [
        {**result, "repetition": 1},
        {**result, "repetition": 2, "retrieved_ids": ["c"], "prompt_ids": ["c"], "citations": ["c"]},
        {**result, "id": "other", "repetition": 1},
        {**result, "id": "other", "repetition": 2},
    ]
    code, found = report(capsys, *write(tmp_path, [case, other], results))
    assert code == 1
    assert [row["verdict"] for row in found["cases"]] == ["pass"] * 4
    assert found["case_count"] == 2
    assert found["segments"]["s"]["mean_evidence_recall"] == 0.75
    leaking = [
        results[0],
        {**results[1], "retrieved_ids": ["a", "z"], "prompt_ids": ["a"], "citations": ["a"]},
        *results[2:],
    ]
    code, found = report(capsys, *write(tmp_path, [case, other], leaking))
    assert (code, [row["verdict"] for row in found["cases"]]) == (1, ["pass", "fail", "pass", "pass"])
    code, found = report(capsys, *write(tmp_path, [case, other], results[:3]))
    assert (code, found["missing"][0]["repetition"]) == (3, 2)


def test_rows_stand_in_the_registers_order_whatever_order_they_came_in(tmp_path, capsys):
    case, result = good()
    cases = [{**case, "id": name} for name in ("b", "a", "c")]
    came = [("c", 2), ("a", 1), ("b", 2), ("c", 1), ("a", 2), ("b", 1)]
    results = [{**result, "id": name, "repetition": repetition} for name, repetition in came]
    _, found = report(capsys, *write(tmp_path, cases, results))
    assert [(row["id"], row["repetition"]) for row in found["cases"]] == [
        (name, repetition) for name in ("b", "a", "c") for repetition in (1, 2)
    ]


def test_a_split_alone_is_judged(tmp_path, capsys):
    """Checklist 10."""
    cases = [{**GOOD["case"], "split": "test"}, {**SILENT["case"], "split": "dev"}]
    arguments = write(tmp_path, cases, [GOOD["result"], {**SILENT["result"], "citations": ["z"]}])
    code, found = report(capsys, *arguments, "--split=test")
    assert (code, found["case_count"], found["about"]["splits"]) == (0, 1, {"test": 1})


def test_every_report_is_written(tmp_path, capsys):
    """Contracts 6, checklist 75: what was tested, the change, and no text unless asked for."""
    arguments = [*write(tmp_path, *[[each] for each in good()]), "--change=new chunker", f"--out={tmp_path / 'out'}"]
    assert run(arguments) == 0
    names = sorted(each.name for each in (tmp_path / "out").iterdir())
    assert names == ["junit.xml", "paths.jsonl", "report.html", "report.json", "report.md"]
    texts = {each.name: each.read_text(encoding="utf-8") for each in (tmp_path / "out").iterdir()}
    assert not any("You may" in text or "May I?" in text for text in texts.values())
    assert all("new chunker" in texts[name] for name in ("report.json", "report.md", "report.html"))
    run([*arguments, "--with-content"])
    assert "You may" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "You may" in (tmp_path / "out" / "paths.jsonl").read_text(encoding="utf-8")
    assert "gate PASS" in capsys.readouterr().out


def test_a_directory_that_cannot_be_written_is_one_line(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    arguments = [*write(tmp_path, *[[each] for each in good()]), f"--out={tmp_path / 'file' / 'out'}"]
    refused(capsys, arguments, "cannot be written")


def test_gating_again_gives_the_same_word(tmp_path, capsys):
    """Contracts 6: `gate` decides without scoring, on the same and on other thresholds."""
    labelled = {**GOOD["case"], "gold_ids": ["a", "c"]}
    limits = tmp_path / "limits.json"
    limits.write_text(json.dumps({"decided_at": "2030-01-01", "minimum_recall": 0.5}))
    code, first = report(capsys, *write(tmp_path, [labelled], [GOOD["result"]]), f"--out={tmp_path}")
    assert code == 1
    again, same = report(capsys, "gate", str(tmp_path / "report.json"))
    assert again == 1
    assert same == first
    code, other = report(capsys, "gate", str(tmp_path / "report.json"), f"--thresholds={limits}")
    assert (code, other["gate"], other["thresholds"]["decided_at"]) == (0, "PASS", "2030-01-01")
    limits.write_text(json.dumps({"decided_at": "2030-01-01", "metrics": {"nDCG@7": {"min": 0.5}}}))
    refused(capsys, ["gate", str(tmp_path / "report.json"), f"--thresholds={limits}"], "nDCG@7 is not in")
    refused(capsys, ["gate", str(tmp_path / "cases.jsonl")], "expected a report")


def test_metrics_lists_every_denominator(capsys):
    """Checklist 17."""
    assert run(["metrics", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert all(row["denominator"] for row in rows)
    run(["metrics"])
    assert "evidence_recall" in capsys.readouterr().out


def test_cases_check(tmp_path, capsys):
    write(tmp_path, [GOOD["case"], SILENT["case"]], [])
    (tmp_path / "corpus.json").write_text('[{"id": "a"}]')
    assert run(["cases", "check", str(tmp_path / "cases.jsonl")]) == 0
    assert "cases      2" in capsys.readouterr().out
    assert run(["cases", "check", str(tmp_path / "cases.jsonl"), f"--corpus={tmp_path / 'corpus.json'}"]) == 1
    assert "'c' is not in" in capsys.readouterr().err
