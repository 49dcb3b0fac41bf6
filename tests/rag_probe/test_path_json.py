"""`from_json` reads what every version of `to_json` wrote, and says what it cannot read."""

from __future__ import annotations

import json
from math import inf, nan
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_probe.path import EvidencePath, Filtered, Ranked, Step
from rag_probe.path_json import PathFormatError, from_json, instant, to_json
from rag_probe.stages import Answer, Chunks, Generation, Retrieval

from . import strategies

GOLDEN = Path(__file__).with_name("golden")
LEAST = {"schema": "rag-probe.path/1", "path_id": "t:s", "trace_id": "t", "source": "langchain"}


@given(strategies.paths)
def test_what_was_written_is_read_and_written_the_same(path):
    written = json.dumps(to_json(path), allow_nan=False)
    assert json.dumps(to_json(from_json(json.loads(written))), allow_nan=False) == written


@pytest.mark.parametrize("file", sorted(GOLDEN.glob("path-*.json")), ids=lambda file: file.stem)
def test_every_released_version_is_read(file):
    """contracts: a golden file per released version, read by the newest code."""
    stored = json.loads(file.read_text(encoding="utf-8"))
    written = to_json(from_json(stored))
    assert written == {**stored, "schema": "rag-probe.path/1"}
    assert list(written) == list(stored)


def keys(value, place=""):
    """Every field in `value`, by its path."""
    match value:
        case dict() if not place.endswith(".stage_latency_ms"):
            return {
                name for key, inner in value.items() for name in ({f"{place}.{key}"} | keys(inner, f"{place}.{key}"))
            }
        case list():
            return {name for inner in value for name in keys(inner, place)}
        case _:
            return set()


@given(strategies.paths)
def test_the_golden_file_of_this_version_holds_every_field(path):
    assert keys(to_json(path)) <= keys(json.loads((GOLDEN / "path-1.json").read_text(encoding="utf-8")))


def test_the_least_that_is_a_path():
    assert from_json(LEAST) == EvidencePath(path_id="t:s", trace_id="t")


def test_null_is_as_good_as_absent_and_unknown_fields_are_ignored():
    assert from_json({**LEAST, "cost_usd": None, "later": {"x": 1}}) == from_json(LEAST)


def test_empty_is_a_fact_and_absent_is_not():
    read = from_json({**LEAST, "filtered": {"kept": []}, "context": []})
    assert read.filtered == Filtered()
    assert read.context.ids == ()
    assert read.permissions is None


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"schema": "rag-probe.path/2"}, "schema: expected rag-probe.path/1"),
        ({"schema": None}, "schema: expected a string, found None"),
        ({"path_id": 7}, "path_id: expected a string, found 7"),
        ({"cost_usd": True}, "cost_usd: expected a finite number, found True"),
        ({"cost_usd": nan}, "cost_usd: expected a finite number, found nan"),
        ({"cost_usd": 10**400}, "cost_usd: expected a finite number"),
        ({"partial": 1}, "partial: expected true or false, found 1"),
        ({"started_at": "yesterday"}, "started_at: expected an RFC 3339 instant with its offset, found 'yesterday'"),
        ({"started_at": "2026-08-01T00:00:00"}, "started_at: expected an RFC 3339 instant"),
        ({"identity": []}, "identity: expected an object, found []"),
        ({"retrieved": "doc-1"}, "retrieved: expected a list of objects, found 'doc-1'"),
        ({"retrieved": [{"id": "a"}, {"score": 1}]}, "retrieved[1].id: expected a string, found None"),
        ({"retrievals": [{"documents": [{"id": "a", "score": "x"}]}]}, "retrievals[0].documents[0].score: expected a"),
        ({"filtered": {"kept": ["a", 1]}}, "filtered.kept[1]: expected a string, found 1"),
        ({"permissions": [{"id": "a", "decision": "maybe"}]}, "permissions[0].decision: expected one of allow, deny"),
        ({"permissions": [{"id": "a"}]}, "permissions[0].decision: expected allow or deny, found None"),
        ({"verdicts": [{"node": "check"}]}, "verdicts[0].passed: expected true or false, found None"),
        ({"verdicts": [{"passed": "yes"}]}, "verdicts[0].passed: expected true or false, found 'yes'"),
        ({"reranked": [{"id": "a"}]}, "reranked[0].rank: expected an integer, found None"),
        ({"context": [{"id": "a", "kept": [[5, 3]]}]}, "context[0].kept[0]: expected [start, end] with 0 <= start"),
        ({"context": [{"id": "a", "tokens": 1.5}]}, "context[0].tokens: expected an integer, found 1.5"),
        ({"answer": {"outcome": "great"}}, "answer.outcome: expected one of answered, partial"),
        ({"stage_latency_ms": {"retrieval": "1"}}, "stage_latency_ms.retrieval: expected a finite number"),
    ],
)
def test_what_cannot_be_read_is_named_in_one_line(fields, message):
    """must-handle 38."""
    with pytest.raises(PathFormatError) as raised:
        from_json({**LEAST, **fields})
    assert str(raised.value).startswith(message)
    assert "\n" not in str(raised.value)


def test_a_path_that_is_no_object():
    with pytest.raises(PathFormatError, match="path: expected an object, found 'x'"):
        from_json("x")


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["id", "kept", "name"]), inner),
    max_leaves=8,
)
FIELDS = sorted(json.loads((GOLDEN / "path-1.json").read_text(encoding="utf-8")))


@given(st.dictionaries(st.sampled_from(FIELDS), anything))
def test_hostile_values_are_read_or_refused_but_nothing_else(fields):
    try:
        path = from_json({**LEAST, **fields})
    except PathFormatError:
        return
    json.dumps(to_json(path), allow_nan=False, ensure_ascii=False).encode()


def test_numbers_that_are_not_finite_never_leave():
    path = EvidencePath(
        path_id="t:s",
        trace_id="t",
        retrievals=(Step(Retrieval(documents=Chunks(ids=("a",), scores=(nan,))), nan),),
        reranked=(Ranked("a", 1, inf),),
        generations=(Step(Generation(), cost_usd=-inf),),
        answer=Answer(confidence=nan),
        stage_latency_ms=(("retrieval", inf), ("filter", 1.0)),
        latency_ms=inf,
        cost_usd=nan,
    )
    written = json.loads(json.dumps(to_json(path), allow_nan=False))
    assert written["stage_latency_ms"] == {"filter": 1.0}
    assert written["reranked"] == [{"id": "a", "rank": 1}]


@given(st.integers())
def test_an_instant_is_always_one(nanoseconds):
    assert len(instant(nanoseconds)) == len("2026-08-01T12:00:00.000000Z")
