"""Nothing is written twice, and nothing that is ignored excuses anything."""

from __future__ import annotations

import json

import pytest

from rag_probe_collector.errors import InputError
from rag_probe_collector.register import load_cases, load_thresholds

CASE = '"id": "a", "segment": "s", "tenant": "t", "question": "q", "gold_ids": ["x"], "answerable": true'
ONE = f'{{{CASE}, "allowed_ids": ["x"]}}'
TWICE = f'{{{CASE}, "allowed_ids": ["x"], "allowed_ids": ["x", "y"]}}'
FILES = {
    "a field twice.jsonl": TWICE,
    "a field twice.json": f"[{ONE}, {TWICE}]",
    "two lists.json": f'{{"cases": [{ONE}], "cases": [{ONE}]}}',
    "two lists.yaml": f"cases:\n- {ONE}\ncases:\n- {ONE}\n",
    "a field twice.yaml": f"- {TWICE}\n",
    "deep inside.yaml": f"- {{{CASE}, allowed_ids: [x], slices: {{task: a, task: b}}}}\n",
}
LIMITS = '"decided_at": "2026-01-01"'


@pytest.mark.parametrize("name", FILES)
def test_a_key_that_is_written_twice_is_one_line(tmp_path, name):
    file = tmp_path / name
    file.write_text(FILES[name], encoding="utf-8")
    with pytest.raises(InputError, match=r"expected each field once, got '\w+' twice; remove one"):
        load_cases(file)


@pytest.mark.parametrize(
    "text",
    [
        f'{{{LIMITS}, "minimum_recall": 0.9, "minimum_recall": 0.0}}',
        'decided_at: "2026-01-01"\nminimum_recall: 0.9\nminimum_recall: 0.0\n',
    ],
)
def test_a_limit_is_set_once(tmp_path, text):
    file = tmp_path / "thresholds"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="'minimum_recall' twice"):
        load_thresholds(file)


@pytest.mark.parametrize("word", ["case_i", "caseid", "case", "zzz"])
def test_an_exception_with_an_unknown_field_excuses_nothing(tmp_path, word):
    """Checklist 58: an exception is about what it names."""
    excused = {"violation": "invalid_citation", word: "a", "owner": "o", "reason": "r", "expires": "2030-01-01"}
    file = tmp_path / "thresholds.json"
    file.write_text(json.dumps({"decided_at": "2026-01-01", "exceptions": [excused]}), encoding="utf-8")
    with pytest.raises(InputError, match=rf"exceptions\[0\]: .*'{word}'"):
        load_thresholds(file)
