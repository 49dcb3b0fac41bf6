"""The formats of contracts 5, and files that are none of them."""

from __future__ import annotations

import json

import pytest
import yaml

from rag_probe_collector.register import load_cases
from tests.rag_probe_collector.register.files import CASE, cases, refusal, write


@pytest.mark.parametrize(
    ("name", "render"),
    [
        ("cases.jsonl", lambda items: "\n\n".join(map(json.dumps, items)) + "\n"),
        ("cases", lambda items: "\r\n".join(map(json.dumps, items))),
        ("cases.json", json.dumps),
        ("cases.json", lambda items: json.dumps(items, indent=2)),
        ("cases.json", lambda items: json.dumps({"schema": "rag-probe.cases/1", "cases": items})),
        ("cases.json", lambda items: json.dumps({"cases": items}, indent=1)),
        ("cases.yaml", yaml.safe_dump),
        ("cases", yaml.safe_dump),
        ("cases.yml", lambda items: yaml.safe_dump({"cases": items})),
        ("cases.yaml", json.dumps),
        ("cases.jsonl", lambda items: "\ufeff" + "\n".join(map(json.dumps, items))),
    ],
)
def test_every_format_reads_the_same(tmp_path, name, render):
    """Checklist 60: JSONL, JSON list or YAML list; a mapping may stand around it."""
    items = [CASE, {**CASE, "id": "q2", "answerable": False, "gold_ids": []}]
    register = load_cases(write(tmp_path, name, render(items)))
    assert [case.id for case in register.cases] == ["q1", "q2"]
    assert register.cases[0].allowed_ids == {"a", "b"}


def test_the_mapping_form_carries_versions(tmp_path):
    """Checklist 4."""
    text = yaml.safe_dump({"dataset_version": "d1", "corpus_version": "2026-01-01", "cases": [CASE]})
    register = load_cases(write(tmp_path, "cases.yaml", text))
    assert (register.dataset_version, register.corpus_version) == ("d1", "2026-01-01")


def test_one_case_alone_is_a_line(tmp_path):
    assert len(cases(tmp_path, CASE, name="cases.json").cases) == 1


BROKEN = {
    "nothing": (b"", "expected at least one case, got none"),
    "only blank lines": (b"\n \n", "expected at least one case, got none"),
    "an empty list": (b"[]", "expected at least one case, got none"),
    "an empty document": (b"---\n", "expected a list, or an object with a list"),
    "cut JSON": (b'[{"id": "q1"', "expected JSON in UTF-8"),
    "a bare word": (b"cases", "expected a list, or an object with a list 'cases'"),
    "NaN": (b'{"id": NaN}', "expected JSON in UTF-8"),
    "infinity in YAML": (b"- {id: .inf}", "a number that is not finite"),
    "no UTF-8": (b'{"id": "\xff\xfe"}', "expected JSON in UTF-8"),
    "UTF-16": ('[{"id": "q1"}]'.encode("utf-16"), "expected"),
    "a list of texts": (b'["q1"]', "cases item 1 case: expected an object, got the text 'q1'"),
    "a mapping without the list": (b'{"cases": 3,\n"id": 1}', "expected a list, or an object with a list 'cases'"),
    "deep nesting": (b"[" * 100_000, "expected"),
    "deep nesting in YAML": (b"- " + b"{a: " * 5_000, "expected"),
    "a tag of Python's": (b"- !!python/object/apply:os.system ['true']", "expected plain YAML"),
    "a cycle": (b"- &a [*a]", "expected no alias to a node inside itself"),
    "an unknown alias": (b"- *nobody", "expected YAML"),
    "an impossible date": (b"- {id: 2024-99-99}", "expected plain YAML"),
    "two documents": (b"- {id: a}\n---\n- {id: b}\n", "expected YAML"),
    "another kind of file": (
        b'{"schema": "rag-probe.reviews/1", "cases": []}',
        "schema: expected rag-probe.cases/1, got the text 'rag-probe.reviews/1'",
    ),
    "a later version": (b"schema: rag-probe.cases/2\ncases: []", "schema: expected rag-probe.cases/1"),
    "a version that is a number": (b"schema: 1\ncases: []", "schema: expected text, got the number 1"),
    "binary": (b"- {id: !!binary aGk=}", "expected what JSON can say"),
}


@pytest.mark.parametrize(("text", "message"), BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_file_is_one_line(tmp_path, text, message):
    """Checklist 51: an empty suite is an error as well."""
    assert message in refusal(load_cases, write(tmp_path, "cases", text))


def test_an_alias_bomb_is_refused_before_it_grows(tmp_path):
    lines = ["- &x0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]"]
    lines += [f"- &x{at} [{', '.join([f'*x{at - 1}'] * 9)}]" for at in range(1, 12)]
    assert "expected few aliases" in refusal(load_cases, write(tmp_path, "cases.yaml", "\n".join(lines)))


def test_a_merge_bomb_is_refused_before_it_grows(tmp_path):
    lines = ["- &x0 {a: 1}"]
    lines += [f"- &x{at} {{<<: [{', '.join([f'*x{at - 1}'] * 9)}]}}" for at in range(1, 12)]
    assert "expected few aliases" in refusal(load_cases, write(tmp_path, "cases.yaml", "\n".join(lines)))


def test_ordinary_aliases_are_fine(tmp_path):
    text = "- &one {id: a, segment: s, question: q, allowed_ids: &ids [x], gold_ids: *ids, answerable: true}\n"
    assert load_cases(write(tmp_path, "cases.yaml", text)).cases[0].gold_ids == {"x"}


def test_a_file_that_is_not_there(tmp_path):
    assert "cannot be read: No such file" in refusal(load_cases, tmp_path / "absent\x1b[2J.json")
    assert "cannot be read: Is a directory" in refusal(load_cases, tmp_path)
