"""The manifest: selectors, and labels that it no longer knows."""

from __future__ import annotations

import json

from rag_probe.identifiers import identifier
from rag_probe_collector.register import load_cases, load_corpus
from tests.rag_probe_collector.register.files import CASE, refusal, write


def test_selectors_and_vanished_ids(tmp_path):
    """Contracts 5: `allowed` selects over the manifest; labels whose ids vanished are told."""
    entries = [
        {"id": "a", "tenant": "acme", "status": "current", "label": "kept out"},
        {"id": "b", "tenant": "acme", "status": "superseded"},
        {"id": "c", "tenant": "globex", "status": "current"},
    ]
    corpus = load_corpus(write(tmp_path, "corpus.json", json.dumps({"corpus_version": "v7", "chunks": entries})))
    assert corpus.version == "v7"
    case = {**CASE, "allowed": [{"tenant": "acme", "status": ["current", "withdrawn"]}, {"id": "c"}]}
    del case["allowed_ids"]
    register = load_cases(write(tmp_path, "cases.jsonl", json.dumps(case)), corpus)
    assert register.cases[0].allowed_ids == {"a", "c"}
    register = load_cases(write(tmp_path, "cases.jsonl", json.dumps({**CASE, "allowed_ids": ["a", "gone"]})), corpus)
    assert any("id 'gone' is not in" in warning for warning in register.warnings)
    wrong = write(tmp_path, "cases.jsonl", json.dumps({**case, "allowed": {"label": "x"}}))
    assert "allowed: expected the fields id, document, revision, tenant, status, got 'label'" in refusal(
        load_cases, wrong, corpus
    )
    for nothing in ({}, [{}], [{"tenant": "acme"}, {}]):
        wide = write(tmp_path, "cases.jsonl", json.dumps({**case, "allowed": nothing}))
        assert "that would allow everything" in refusal(load_cases, wide, corpus)


def test_an_id_that_is_too_long_is_cut_as_the_app_cuts_it(tmp_path):
    """Else it would match nothing that was recorded."""
    one, other = "https://docs/" + "a" * 300, "https://docs/" + "a" * 301
    corpus = load_corpus(write(tmp_path, "corpus.json", json.dumps([{"id": one, "document": one}, {"id": other}])))
    case = {**CASE, "allowed_ids": [one, other], "gold_ids": [one], "requirements": []}
    (read,) = load_cases(write(tmp_path, "cases.jsonl", json.dumps(case)), corpus).cases
    assert read.gold_ids == {identifier(one)}
    assert read.allowed_ids == {identifier(one), identifier(other)} == corpus.entries.keys()
    assert corpus.entries[identifier(one)].document == identifier(one)


def test_a_corpus_lists_each_chunk_once(tmp_path):
    assert "twice" in refusal(load_corpus, write(tmp_path, "c.json", '[{"id": "a"}, {"id": "a"}]'))
    assert "at least one chunk" in refusal(load_corpus, write(tmp_path, "c.json", "[]"))
    assert "status: expected current, superseded or withdrawn" in refusal(
        load_corpus, write(tmp_path, "c.json", '[{"id": "a", "status": "old"}]')
    )
