"""Smallest files of each kind, and how a refusal must look."""

from __future__ import annotations

import json

import pytest

from rag_probe_collector.errors import InputError
from rag_probe_collector.register import load_cases

CASE = {
    "id": "q1",
    "segment": "s",
    "tenant": "acme",
    "question": "?",
    "allowed_ids": ["a", "b"],
    "gold_ids": ["a"],
    "answerable": True,
}
RESULT = {"id": "q1", "retrieved_ids": ["a"], "prompt_ids": ["a"], "answer": "x", "citations": ["a"], "review": None}
REVIEW = {"case_id": "q1", "path_id": "result:q1", "total_claims": 2, "supported_claims": 1, "reviewer": "mira"}
LIMITS = {"schema": "rag-probe.thresholds/1", "decided_at": "2030-01-31"}


def write(tmp_path, name, text):
    file = tmp_path / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def cases(tmp_path, *items, name="cases.jsonl"):
    return load_cases(write(tmp_path, name, "\n".join(json.dumps(item) for item in items)))


def refusal(load, *arguments):
    with pytest.raises(InputError) as caught:
        load(*arguments)
    message = str(caught.value)
    assert message.isprintable(), "one line, nothing that a terminal acts upon"
    return message
