"""Selection means the same for every source (contracts 6)."""

from __future__ import annotations

import pytest

from rag_probe.path import EvidencePath
from rag_probe.protocols import Selection
from rag_probe.stages import CaseTags, Content, Identity, Root
from rag_probe_collector.sources.select import as_text, attributes_of, select
from tests.rag_probe_collector.spans import MS, T0, request, source, trace_id, workflow

SENT = [
    request(workflow(1, Root(question=Content(length=1), tags=CaseTags(case_id="a", repetition=1)), trace=1, at=10)),
    request(workflow(1, Root(question=Content(length=1), tags=CaseTags(case_id="b")), trace=2, at=20, service="other")),
    request(
        workflow(1, Root(question=Content(length=1)), trace=3, at=30, attributes={"flag": True, "list": ("x", "y")})
    ),
]


@pytest.mark.parametrize(
    ("selection", "expected"),
    [
        (Selection(), [1, 2, 3]),
        (Selection(service="rag-app"), [1, 3]),
        (Selection(since=T0 + 20 * MS), [2, 3]),
        (Selection(until=T0 + 20 * MS), [1]),
        (Selection(since=T0 + 10 * MS, until=T0 + 30 * MS), [1, 2]),
        (Selection(traces=(trace_id(3), trace_id(1))), [1, 3]),
        (Selection(attributes={"rag.case.id": "a", "rag.repetition": "1"}), [1]),
        (Selection(attributes={"service.name": "other"}), [2]),
        (Selection(attributes={"flag": "true", "list": "x,y"}), [3]),
        (Selection(attributes={"flag": "false"}), []),
        (Selection(limit=2), [1, 2]),
        (Selection(limit=1, since=T0 + 11 * MS), [2]),
        (Selection(limit=0), []),
    ],
)
def test_spans(selection, expected):
    assert [int(path.trace_id, 16) for path in source(*SENT).paths(selection)] == expected


def test_a_path_of_no_span_is_selected_by_its_tags():
    path = EvidencePath(
        path_id="p",
        trace_id="t",
        service="app",
        tags=CaseTags(case_id="a", repetition=2),
        identity=Identity(tenant="acme"),
    )
    found = [(path, attributes_of(path))]
    for wanted in (
        {"rag.case.id": "a"},
        {"rag.repetition": "2"},
        {"rag.identity.tenant": "acme"},
        {"service.name": "app"},
    ):
        assert list(select(found, Selection(attributes=wanted))) == [path]
    assert list(select(found, Selection(attributes={"rag.case.id": "b"}))) == []


def test_a_path_without_a_start_is_in_no_time_range():
    path = EvidencePath(path_id="p", trace_id="t")
    assert list(select([(path, {})], Selection(since=0))) == []
    assert list(select([(path, {})], Selection(until=2**62))) == []


def test_values_are_compared_as_they_are_typed():
    assert [as_text(value) for value in (True, 3, 0.5, "x", (1, 2))] == ["true", "3", "0.5", "x", "1,2"]
