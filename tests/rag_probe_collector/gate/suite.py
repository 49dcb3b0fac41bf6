"""A suite of captured results on disk, and the command line run over it in this process."""

from __future__ import annotations

import json

from rag_probe_collector.cli.program import run

GOOD = {
    "case": {
        "id": "good",
        "segment": "s",
        "tenant": "acme",
        "question": "May I?",
        "allowed_ids": ["a", "c"],
        "gold_ids": ["a"],
        "answerable": True,
    },
    "result": {
        "id": "good",
        "retrieved_ids": ["a"],
        "prompt_ids": ["a"],
        "answer": "You may [a].",
        "citations": ["a"],
        "review": {"total_claims": 1, "supported_claims": 1, "reviewer": "mira"},
    },
}
SILENT = {
    "case": {**GOOD["case"], "id": "silent", "allowed_ids": ["c"], "gold_ids": [], "answerable": False},
    "result": {
        **GOOD["result"],
        "id": "silent",
        "retrieved_ids": ["c"],
        "prompt_ids": ["c"],
        "answer": "",
        "citations": [],
        "review": None,
    },
}


def write(home, cases, results):
    (home / "cases.jsonl").write_text("\n".join(map(json.dumps, cases)), encoding="utf-8")
    (home / "results.jsonl").write_text("\n".join(map(json.dumps, results)), encoding="utf-8")
    return ["score", f"results:{home / 'results.jsonl'}", f"--cases={home / 'cases.jsonl'}"]


def report(capsys, *arguments):
    """(exit code, the report): stdout holds the JSON and nothing else."""
    code = run([*arguments, "--json"])
    return code, json.loads(capsys.readouterr().out)


def good(**changes):
    """Case and result of the case that passes, with the result's fields changed."""
    return GOOD["case"], {**GOOD["result"], **changes}
